import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { type ErrorCode, errorCodes } from '#libs/errors';
import { endedAfterAll } from '#libs/testing';
import { RunningBroker, SERVICE_CODE, TOKENS } from '../e2e/running-broker.js';
import { RunningEgress } from '../egress/running-egress.js';

/** At the same time: those that wait for the rest of a request then wait together. */
const MAX_CONNECTIONS = 96;
const ROUNDS = 12;
/** Within it, a find is made as small as it can be. */
const WITHIN_MS = 60_000;
/** If nothing comes for this long, the server is told that nothing follows, and has as long again to end its answer. */
const QUIET_MS = 120;

const SESSION = '/v1/merchants/shop/session';
const ports = {
  api: {
    targets: [
      ...['', '/headers', '/headers/ext_authz/v1/pay', '/events', '/rejections', '/handovers', '/renewal'].map(
        (path) => SESSION + path,
      ),
      ...['/v1/merchants', '/v1/merchants/shop/payloads/encrypt', '/v1/merchants/shop/payloads/decrypt'],
      ...['/v1/merchants/shop/notifications/open', '/v1/merchants/hidden/session', '/openapi.json', '/docs/'],
    ],
    /** Whether an answer that is not a problem document may have this status. */
    declares: () => false,
  },
  management: {
    targets: ['/livez', '/readyz', '/metrics', '/status', '/status/', '/status.json', '/'],
    // Not being ready has its own form of answer.
    declares: (status: number) => status === 503,
  },
  egress: {
    targets: [
      ...['/ecom/execute_request/hpp/v1/create-order', '/ecom/execute_request/payment/v1/pay'],
      ...['/api-gateway/authorize_virtual_device', '/api-gateway/v1/server-public'],
    ],
    // The gateway's own answers are passed on as they are.
    declares: () => true,
  },
};
type Port = keyof typeof ports;

const BODIES = [
  ...['', '{"generation":1,"reason":"SESSION_EXPIRED"}', '{"generation":9007199254740993,"participant":"p-1"}', '[{}]'],
  ...['{"plaintext":"a card","encoding":"base64"}', '{"jwe":"a.b.c.d.e"}', '{"body":"{}","__proto__":1}', '{"jwe":5}'],
  ...['{"merchantRequestId":"o-1","coinAmount":100}', '{"encryptedCardNumber":"a.b.c.d.e"}', 'x'.repeat(70_000)],
  ...['2\r\n{}\r\n0\r\n\r\n', 'ffffffff\r\n{}\r\n'],
];
/** What servers accept, and handlers may stumble over. */
const ODD_LINES = [
  ...['Connection: close', 'Connection: upgrade', 'Upgrade: websocket', 'Expect: 100-continue', 'Range: bytes=0-'],
  ...['Content-Encoding: gzip', 'Content-Type: text/plain', 'Content-Type: application/json; charset=utf-7'],
  ...[
    'Prefer: wait=0',
    'Prefer: wait=-1',
    'Prefer: wait=1e9',
    'If-None-Match: *',
    'If-None-Match: "',
    'Accept: */*;q=',
  ],
  ...['Last-Event-ID: 9007199254740993', 'Accept: text/event-stream', 'Accept: application/openmetrics-text'],
  ...[`X-Request-Id: ${'x'.repeat(500)}`, 'X-Request-Id: \u{1F600}', 'traceparent: 00-x', 'Origin: null', 'Trailer: x'],
  ...['Authorization: Bearer', 'Authorization: Basic dG9rZW4=', 'X-Original-URI: /', 'Sec-Fetch-Site: cross-site'],
];
/** What a server must refuse. */
const WRONG_LINES = [
  ...['Expect: a miracle', 'Transfer-Encoding: chunked', 'Transfer-Encoding: gzip, chunked', 'Host: y', ' folded'],
  ...['Transfer-Encoding : chunked', ': no name', 'no colon', 'x\0y: z', `X-Filler: ${'a'.repeat(20_000)}`],
  ...['-1', '+5', '0x5', '5,5', '99999999999999999999', ''].map((number) => `Content-Length: ${number}`),
];
/** Octets that parsers stumble over, put anywhere. */
const SHARP = [
  ...['\0', '\n', '\r\n', '\r\n\r\n', ' ', '"', '\\', '{', '}', '[', ':', ',', '%00', '%2e%2e', '%zz', '..', '//', ';'],
  ...['#', '?', '&', '*', '@', '-1', '1e999', '9007199254740993', 'null', '__proto__', '\u{FEFF}', '\u{2028}', 'é'],
].map((text) => Buffer.from(text));
const BROKEN = [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0x80]].map((octets) => Buffer.from(octets));

const oneOf = (usual: string, ...seldom: string[]): fc.Arbitrary<string> =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...seldom) });

function requestsTo(targets: readonly string[], tokens: readonly string[]): fc.Arbitrary<Buffer> {
  const parts = fc.record({
    method: fc.oneof(fc.constant('GET'), oneOf('POST', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'get', 'PRI')),
    target: fc.constantFrom(...targets, ...targets, '*', 'http://x/v1/merchants', 'bank.example:443', '', '//'),
    query: oneOf('', '?wait=1', '?minRemaining=60s&a[]=', '?__proto__', `/${'a'.repeat(9_000)}`),
    version: oneOf('HTTP/1.1', 'HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'http/1.1', 'HTTP/1.1 '),
    host: oneOf('Host: localhost', 'Host: elsewhere', 'X-No: host'),
    token: fc.constantFrom(...tokens),
    body: fc.oneof(fc.constantFrom(...BODIES), fc.json({ maxDepth: 3 })),
    shortBy: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constant(3) }),
    lines: fc.array(
      fc.oneof(
        { weight: 20, arbitrary: fc.constantFrom(...ODD_LINES) },
        { weight: 2, arbitrary: fc.constantFrom(...WRONG_LINES) },
      ),
      { maxLength: 3 },
    ),
  });
  return parts.map(({ method, target, query, version, host, token, body, shortBy, lines }) => {
    const length = Buffer.byteLength(body) + shortBy;
    const own = body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${length}`];
    const head = [host, `Authorization: Bearer ${token}`, ...own, ...lines].join('\r\n');
    return Buffer.from(`${method} ${target}${query} ${version}\r\n${head}\r\n\r\n${body}`);
  });
}

/** What someone writes on a connection: requests in a row, whole or damaged. */
function connectionsTo(targets: readonly string[], tokens: readonly string[]): fc.Arbitrary<Buffer> {
  const requests = fc.array(requestsTo(targets, tokens), { minLength: 1, maxLength: 3 });
  const edit = fc.record({
    at: fc.nat({ max: 65_535 }),
    remove: fc.oneof(fc.constantFrom(0, 1), fc.nat({ max: 2_000 })),
    insert: fc.constantFrom(Buffer.alloc(0), ...SHARP, ...BROKEN),
  });
  const edits = fc.oneof(fc.constant([]), fc.array(edit, { minLength: 1, maxLength: 4 }));
  return fc.tuple(requests, edits).map(([whole, list]) => {
    const octets = list.reduce((given, { at, remove, insert }) => {
      const start = at % (given.length + 1);
      return Buffer.concat([given.subarray(0, start), insert, given.subarray(start + remove)]);
    }, Buffer.concat(whole));
    // Shown as text in a find, one character per octet.
    return Object.assign(octets, { [fc.toStringMethod]: () => JSON.stringify(octets.toString('latin1')) });
  });
}

/** What came, with one character for each octet. If we ended it, the last part may be the beginning of an answer. */
function exchange(port: number, octets: Buffer): Promise<{ readonly text: string; readonly isCut: boolean }> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    let text = '';
    let isCut = false;
    socket.setEncoding('latin1').on('data', (part: string) => void (text += part));
    // A server that has said why it reads no further may reset what is still being sent to it.
    socket.on('error', () => socket.destroy());
    socket.on('end', () => socket.end());
    socket.on('close', () => resolve({ text, isCut }));
    socket.setTimeout(QUIET_MS).on('timeout', () => {
      isCut = socket.writableEnded;
      if (isCut) socket.destroy();
      else socket.end();
    });
    socket.write(octets);
  });
}

interface Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  readonly after: string;
}

function demand(holds: boolean, sentence: string): void {
  if (!holds) throw new Error(sentence);
}

/**
 * Reads one answer strictly (RFC 9112): a server must never send anything that a client could read in two ways.
 * @param mayLackBody an answer does not show whether it is one to HEAD, which has no body
 */
function answerIn(received: string, mayLackBody: boolean): Answer {
  const end = received.indexOf('\r\n\r\n');
  demand(end >= 0, `the head of an answer is whole: ${received.slice(0, 200)}`);
  const [line = '', ...lines] = received.slice(0, end).split('\r\n');
  const status = Number(/^HTTP\/1\.1 ([1-5]\d{2}) [ -~]*$/.exec(line)?.[1]);
  demand(status > 0, `an answer begins with a status line: ${line}`);
  const headers = headersIn(lines);
  const rest = received.slice(end + 4);
  const isAnswer = status >= 200 && status !== 204 && status !== 304;
  const hasBody = isAnswer && !(mayLackBody && /^($|HTTP\/1\.1 )/.test(rest));
  return { status, headers, ...(hasBody ? bodyIn(rest, headers) : { body: '', after: rest }) };
}

function headersIn(lines: readonly string[]): Answer['headers'] {
  const headers = new Map<string, string>();
  for (const one of lines) {
    const [, name = '', value = ''] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/.exec(one) ?? [];
    demand(name !== '' && !headers.has(name.toLowerCase()), `a header is a name, once, and a value: ${one}`);
    headers.set(name.toLowerCase(), value);
  }
  demand(!headers.has('content-length') || !headers.has('transfer-encoding'), 'an answer has one framing');
  return headers;
}

function bodyIn(rest: string, headers: Answer['headers']): Pick<Answer, 'body' | 'after'> {
  if (headers.get('transfer-encoding') === 'chunked') return chunksIn(rest, headers.get('content-type') ?? '');
  const length = headers.get('content-length');
  demand(length !== undefined || headers.get('connection') === 'close', 'an answer says where it ends');
  const size = Number(length ?? rest.length);
  demand(size <= rest.length, 'an answer is as long as it says');
  return { body: rest.slice(0, size), after: rest.slice(size) };
}

/** An event stream ends when its connection does. */
function chunksIn(text: string, type: string): Pick<Answer, 'body' | 'after'> {
  let [body, rest] = ['', text];
  while (rest !== '' || !type.startsWith('text/event-stream')) {
    const [line = '', digits = ''] = /^([0-9a-f]+)\r\n/i.exec(rest) ?? [];
    const end = line.length + Number.parseInt(digits, 16);
    demand(rest.slice(end, end + 2) === '\r\n', `a chunk is as long as it says: ${rest.slice(0, 200)}`);
    body += rest.slice(line.length, end);
    rest = rest.slice(end + 2);
    if (end === line.length) break;
  }
  return { body, after: rest };
}

/** Codes of failures of our own: no request, however wild, may cause them. */
const OURS: readonly string[] = ['internal_error', 'helper_forbidden', 'configuration_invalid'];

function judge({ status, headers, body }: Answer, declares: (status: number) => boolean): void {
  if (headers.get('content-type')?.startsWith('application/problem+json') !== true) {
    demand(
      declares(status) || status < 400 || (body === '' && status < 500),
      `${status} comes with a problem document`,
    );
    return;
  }
  if (body === '') return;
  const problem = JSON.parse(Buffer.from(body, 'latin1').toString('utf8')) as Record<string, unknown>;
  const code = String(problem['code']) as ErrorCode;
  demand(
    Object.hasOwn(errorCodes, code) && !OURS.includes(code),
    `${code} is a code of the registry, and none of ours`,
  );
  const { title } = errorCodes[code];
  expect(problem).toMatchObject({ title, status, requestId: expect.stringMatching(/./) });
  demand(errorCodes[code].status === status, `${code} has its status, not ${status}`);
}

describe('whatever is written to a port', () => {
  let broker: RunningBroker;
  let egress: RunningEgress;
  /** What no caller is ever told, and no log ever contains. */
  let secrets: readonly string[];
  const started = endedAfterAll();

  beforeAll(async () => {
    broker = await RunningBroker.start({ http: 'rateLimit: { perSecond: 1000000, burst: 1000000 }' });
    started.add(broker, (it) => it.close());
    const around = { broker: { url: broker.url, token: TOKENS.payments }, gatewayUrl: broker.sandboxUrl };
    egress = started.add(await RunningEgress.start(around), (it) => it.close());
    const keys = ['shop', 'shop-older', 'hidden'].map(async (name) => {
      const { d } = JSON.parse(await readFile(join(broker.folder, `${name}.jwk.json`), 'utf8')) as { d: string };
      return d;
    });
    secrets = [...(await Promise.all(keys)), SERVICE_CODE, ...Object.values(TOKENS), egress.client().token];
  });

  const secretsIn = (text: string): readonly string[] => secrets.filter((secret) => text.includes(secret));
  const urlsOf = (port: Port): { readonly url: string; readonly livesAt: string } => {
    if (port === 'egress') return { url: egress.url, livesAt: egress.managementUrl };
    return { url: port === 'api' ? broker.url : broker.managementUrl, livesAt: broker.managementUrl };
  };

  const check = async (port: Port, octets: Buffer): Promise<void> => {
    const { text, isCut } = await exchange(Number(new URL(urlsOf(port).url).port), octets);
    expect(secretsIn(text)).toEqual([]);
    let rest = isCut ? '' : text;
    while (rest !== '') {
      const answer = answerIn(rest, /HEAD/i.test(octets.toString('latin1')));
      judge(answer, ports[port].declares);
      rest = answer.after;
      demand(rest === '' || answer.headers.get('connection') !== 'close', 'nothing follows the last answer');
    }
  };

  it.each(Object.keys(ports) as Port[])(
    'is answered in strict HTTP, by codes of the registry and without a secret, and the program lives on: %s',
    async (port) => {
      const tokens = port === 'egress' ? [egress.client().token] : Object.values(TOKENS);
      const connection = connectionsTo(ports[port].targets, tokens);
      const lists = fc.array(connection, { minLength: 1, maxLength: MAX_CONNECTIONS, size: 'max' });
      await fc.assert(
        fc.asyncProperty(lists, async (drawn) => {
          await Promise.all(drawn.map((octets) => check(port, octets)));
          const alive = await fetch(`${urlsOf(port).livesAt}/livez`);
          expect([alive.status, await alive.text()]).toEqual([200, expect.stringMatching(/./)]);
          expect(secretsIn([...broker.lines.splice(0), ...egress.lines.splice(0)].join(''))).toEqual([]);
        }),
        { numRuns: ROUNDS, interruptAfterTimeLimit: WITHIN_MS },
      );
    },
  );
});
