import { gzipSync } from 'node:zlib';
import { sealCompact } from '../../apps/sandbox/src/crypto/compact-jwe.js';
import { generateKeyPair } from '../../apps/sandbox/src/crypto/ec-key.js';
import type { Route } from './callers.js';
import { answer, type Part, type Play } from './hostile-gateway.js';
import type { SentAnswer } from './outcome.js';

/** How long the egress of these tests waits for an answer. */
export const TIMEOUT_MS = 1_200;

/** One thing that a gateway may do, and what a caller may be told about it on each kind of route. */
export interface HostileCase {
  readonly name: string;
  readonly plays: readonly Play[];
  readonly outcome: Readonly<Record<Route, string | readonly string[]>>;
  /** What `as sent` stands for. */
  readonly sent?: SentAnswer;
}

/** An outcome that is the same on both kinds of route. */
const both = (...outcome: readonly string[]): HostileCase['outcome'] => ({ clear: outcome, sealed: outcome });
/** Once the head of an answer has been passed on, all that is left is to end the connection. */
const late = { clear: ['504 answer_late', 'cut'], sealed: '504 answer_late' };
const lost = { clear: ['502 answer_lost', 'cut'], sealed: '502 answer_lost' };
const unusable = both('502 answer_unusable');

const say = (text: (part: Part) => string | Buffer): Play => ({ run: (part) => void part.socket.write(text(part)) });
const sayAndEnd = (text: (part: Part) => string): Play => ({
  run: (part) => void part.socket.end(text(part), 'latin1'),
});
const head = (...headers: readonly string[]): string =>
  ['HTTP/1.1 200 OK', 'content-type: application/json', ...headers, '', ''].join('\r\n');

const HUGE_BYTES = 400_000;
const huge = (good: string): string => good.padEnd(HUGE_BYTES);
const encoded = (encoding: string, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from(head(`content-encoding: ${encoding}`, `content-length: ${body.length}`)), body]);
const error = (msgCode: string): string =>
  JSON.stringify({
    requestId: 'r',
    serviceId: 's',
    msgCode,
    msgType: 'ERROR',
    msgText: 'T',
    isLocalized: false,
    msgAttrs: {},
    errorCauses: [],
  });
const strangers = generateKeyPair();
const PAGE = '<html><body>The request was rejected.</body></html>';

const slow: readonly HostileCase[] = [
  { name: 'no answer at all', plays: [say(() => '')], outcome: both('504 answer_late') },
  {
    name: 'a body that stops half-way',
    plays: [say(({ good }) => `${head(`content-length: ${good.length}`)}${good.slice(0, 5)}`)],
    outcome: late,
  },
];

const passedInClear: HostileCase['outcome'] = { clear: 'as sent', sealed: '502 answer_unusable' };

const bodies: readonly HostileCase[] = [
  {
    name: 'a huge body',
    plays: [say(({ good }) => answer(200, huge(good)))],
    outcome: { clear: ['502 answer_unusable', 'cut'], sealed: '502 answer_unusable' },
  },
  {
    name: 'a body that is compressed, although nothing but identity was accepted',
    plays: [say(({ good }) => encoded('identity\r\ncontent-encoding: gzip', gzipSync(good)))],
    outcome: unusable,
  },
  {
    name: 'a body that ends too early',
    plays: [sayAndEnd(({ good }) => head(`content-length: ${good.length + 9}`) + good)],
    outcome: lost,
  },
  {
    name: 'a page of HTML',
    plays: [say(() => answer(200, PAGE).replace('application/json', 'text/html'))],
    outcome: passedInClear,
    sent: { status: 200, body: PAGE },
  },
];

const jwes: readonly HostileCase[] = [
  {
    name: 'an answer for the key of a stranger',
    plays: [say(() => answer(200, JSON.stringify({ jwe: sealCompact('{}', strangers) })))],
    outcome: { clear: [], sealed: '502 answer_unopened' },
  },
  {
    name: 'a jwe that is no text',
    plays: [say(() => answer(200, '{"jwe":5}'))],
    outcome: { clear: [], sealed: '502 answer_unusable' },
  },
];

const forms: readonly HostileCase[] = [
  { name: 'no HTTP', plays: [sayAndEnd(() => 'SSH-2.0-OpenSSH_9.2\r\n\r\n')], outcome: unusable },
  {
    name: 'headers that are too large',
    plays: [sayAndEnd(({ good }) => answer(200, good, [`x-padding: ${'x'.repeat(70_000)}`]))],
    outcome: unusable,
  },
  {
    name: 'two lengths',
    plays: [sayAndEnd(({ good }) => answer(200, good, ['content-length: 3']))],
    outcome: both('502 answer_unusable', '502 answer_lost'),
  },
  {
    name: 'headers that were sent twice',
    plays: [
      say(({ good }) =>
        answer(200, good, [
          ...['connection: x-one', 'connection: keep-alive, x-two', 'x-one: 1', 'x-two: 2'],
          ...['content-encoding: identity', 'content-encoding: Identity', 'content-type: application/json'],
        ]),
      ),
    ],
    outcome: both('good'),
  },
  { name: 'a redirect', plays: [say(() => answer(302, '{}', ['location: /elsewhere']))], outcome: unusable },
];

const errors = [
  [200, 'b_operation_not_found'],
  [401, 'b_auth_token_expired'],
] as const;

const refusals = errors.map(([status, code]) => ({
  name: `${code} under ${status}`,
  plays: [say(() => answer(status, error(code)))],
  outcome: both('as sent'),
  sent: { status, body: error(code) },
}));

const losses: readonly HostileCase[] = [
  {
    name: 'a reset when the connection opens',
    plays: [{ on: 'connection', run: ({ socket }) => void socket.resetAndDestroy() }],
    outcome: both('502 answer_lost', '502 gateway_unreachable'),
  },
  {
    name: 'a reset in the middle of the answer',
    plays: [
      {
        run: ({ socket, good: body }) =>
          void socket.write(answer(200, body).slice(0, -5), () => socket.resetAndDestroy()),
      },
    ],
    outcome: lost,
  },
];

export const HOSTILE_CASES: readonly HostileCase[] = [...slow, ...bodies, ...jwes, ...forms, ...refusals, ...losses];
