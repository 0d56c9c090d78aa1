import fc from 'fast-check';
import { damaged, legible } from '../damaged.js';

/** What a port has to offer, for requests that get as far as its handlers. */
export interface PortMap {
  readonly targets: readonly string[];
  readonly tokens: readonly string[];
  readonly bodies: readonly string[];
}

/** One connection: what is written on it, and after which octets there is a pause. */
export interface WildConnection {
  readonly octets: Buffer;
  readonly cuts: readonly number[];
}

const METHODS = ['GET', 'POST', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'get', 'FETCH', 'PRI'];
const VERSIONS = ['HTTP/1.1', 'HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/1.11', 'http/1.1', 'HTTP/1.1 '];
const WORDS = [
  ...[
    'shop',
    'hidden',
    '..',
    '.',
    '%2e%2e',
    '%2F',
    '%00',
    '%zz',
    '%C0%AF',
    '//',
    '/',
    '\\',
    '?',
    '#',
    '*',
    ';',
    '@',
    ':',
  ],
  ...[
    '__proto__',
    'a'.repeat(300),
    'session',
    'v1',
    'wait=1',
    'minRemaining=60s',
    '&',
    '=',
    '+',
    '[]',
    'é',
    '\u{1F600}',
  ],
];
const NUMBERS = ['0', '1', '5', '-1', '+5', '5 ', '0x5', '5,5', '99999999999999999999', '4294967296', '1e3', ''];

/** What servers accept, and handlers may stumble over. */
const ODD_LINES = [
  ...['Connection: close', 'Connection: keep-alive', 'Connection: upgrade', 'Upgrade: websocket', 'Upgrade: h2c'],
  ...['Expect: 100-continue', 'Content-Encoding: gzip', 'Accept-Encoding: gzip', 'Content-Type: text/plain'],
  ...['Content-Type: application/json; charset=utf-7', 'Content-Type:', 'Content-Type: multipart/form-data; boundary='],
  ...[
    'Prefer: wait=0',
    'Prefer: wait=-1',
    'Prefer: wait=1e9',
    'If-None-Match: "1"',
    'If-None-Match: *',
    'If-None-Match: "',
  ],
  ...[
    'Last-Event-ID: 1',
    'Last-Event-ID: 9007199254740993',
    'Accept: text/event-stream',
    'Accept: */*;q=',
    'Range: bytes=0-',
  ],
  ...[
    'X-Request-Id: r-1',
    `X-Request-Id: ${'x'.repeat(500)}`,
    'X-Request-Id: \u{1F600}',
    'X-HTTP-Method-Override: DELETE',
  ],
  ...[
    'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    'traceparent: 00-x',
    `baggage: ${'a=b,'.repeat(99)}`,
  ],
  ...[
    'Authorization: Bearer wrong',
    'Authorization: Bearer',
    'Authorization: Basic dG9rZW4=',
    'Authorization: Bearer a.b.c',
  ],
  ...[
    'Cookie: a=b',
    'Trailer: x',
    'Keep-Alive: timeout=-1',
    'X-Forwarded-For: 127.0.0.1',
    'Forwarded: for=1',
    'Origin: null',
  ],
  ...['Sec-Fetch-Site: cross-site', 'Accept: application/openmetrics-text', 'DPoP: x', 'Session-Generation: 1'],
  ...['X-Original-Method: POST', 'X-Original-URI: /'],
];
/** What a server must refuse. */
const WRONG_LINES = [
  ...[
    'Expect: a miracle',
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: gzip, chunked',
    'Transfer-Encoding: identity',
  ],
  ...['Transfer-Encoding : chunked', 'Host: y', 'Host:', ' folded', ': no name', 'no colon', 'a b: c', 'x\0y: z'],
  ...NUMBERS.map((number) => `Content-Length: ${number}`),
  `X-Filler: ${'a'.repeat(20_000)}`,
];

const headerLine: fc.Arbitrary<string> = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...ODD_LINES) },
  { weight: 1, arbitrary: fc.constantFrom(...WRONG_LINES) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.stringMatching(/^[a-zA-Z-]{1,12}$/), fc.string({ unit: 'binary', maxLength: 30 }))
      .map((pair) => pair.join(': ')),
  },
);

const chunks = fc
  .array(
    fc.tuple(fc.constantFrom('1', '2', 'a', '0', 'ffffffff', 'g', '-1', ' 1', '1;x=y'), fc.string({ maxLength: 12 })),
  )
  .map((list) => `${list.map(([size, data]) => `${size}\r\n${data}\r\n`).join('')}0\r\n\r\n`);

/** Fields of JSON bodies that handlers read, with unexpected values. */
const fields = fc
  .dictionary(
    fc.constantFrom('generation', 'reason', 'participant', 'plaintext', 'encoding', 'jwe', 'jwk', '__proto__', 'body'),
    fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom<unknown>('utf-8', 'base64', 1, 2 ** 53, '1', 'SESSION_EXPIRED'),
    ),
  )
  .map((body) => JSON.stringify(body));

function targetOf({ targets }: PortMap): fc.Arbitrary<string> {
  const known = fc.constantFrom(...targets);
  const query = fc.array(fc.constantFrom(...WORDS), { maxLength: 4 }).map((words) => `?${words.join('')}`);
  return fc.oneof(
    { weight: 5, arbitrary: known },
    { weight: 2, arbitrary: fc.tuple(known, query).map((parts) => parts.join('')) },
    {
      weight: 2,
      arbitrary: fc.array(fc.constantFrom(...WORDS), { maxLength: 8 }).map((words) => `/${words.join('')}`),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom('*', 'http://x/v1/merchants', 'bank.example:443', '', '//', 'a'.repeat(9_000)),
    },
  );
}

/** A plausible request: its line, a host, a credential, a length that fits. */
function requestOf(port: PortMap): fc.Arbitrary<Buffer> {
  const body = fc.oneof(
    fc.constantFrom('', ...port.bodies),
    fields,
    fc.json({ maxDepth: 3 }),
    damaged(fc.oneof(fields, fc.constantFrom(...port.bodies))),
  );
  const parts = fc.record({
    method: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom('GET', 'POST') },
      { weight: 1, arbitrary: fc.constantFrom(...METHODS) },
    ),
    target: targetOf(port),
    version: fc.oneof(
      { weight: 9, arbitrary: fc.constant('HTTP/1.1') },
      { weight: 1, arbitrary: fc.constantFrom(...VERSIONS) },
    ),
    host: fc.oneof({ weight: 9, arbitrary: fc.constant('Host: localhost') }, { weight: 1, arbitrary: fc.constant('') }),
    token: fc.constantFrom(...port.tokens.map((token) => `Authorization: Bearer ${token}`)),
    lines: fc.array(headerLine, { maxLength: 3 }),
    body,
    chunks,
    framing: fc.oneof(
      { weight: 12, arbitrary: fc.constant('length') },
      { weight: 1, arbitrary: fc.constantFrom('none', 'chunked', 'short') },
    ),
  });
  return parts.map(({ method, target, version, host, token, lines, framing, ...given }) => {
    const isChunked = framing === 'chunked';
    const sent = Buffer.from(isChunked ? given.chunks : given.body);
    const length = sent.length + (framing === 'short' ? 3 : 0);
    const declared = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
    const own = sent.length === 0 || framing === 'none' ? [] : ['Content-Type: application/json', declared];
    const rest = [host, token, ...own, ...lines].filter((line) => line !== '').join('\r\n');
    return Buffer.concat([Buffer.from(`${method} ${target} ${version}\r\n${rest}\r\n\r\n`), sent]);
  });
}

/** What someone writes on a connection: one request or several in a row, whole or damaged, or no HTTP at all. */
export function connectionsTo(port: PortMap): fc.Arbitrary<WildConnection> {
  const request = requestOf(port);
  const some = fc.array(request, { minLength: 1, maxLength: 3 }).map((list) => Buffer.concat(list));
  return fc.record({
    octets: fc
      .oneof(
        { weight: 6, arbitrary: request },
        { weight: 2, arbitrary: some },
        { weight: 4, arbitrary: damaged(fc.oneof(request, some)) },
        { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((octets) => Buffer.from(octets)) },
      )
      .map(legible),
    cuts: fc.oneof(
      { weight: 3, arbitrary: fc.constant<number[]>([]) },
      { weight: 1, arbitrary: fc.array(fc.nat({ max: 400 }), { maxLength: 4 }) },
    ),
  });
}
