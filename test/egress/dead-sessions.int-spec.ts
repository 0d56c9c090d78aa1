import { gzipSync } from 'node:zlib';
import { eventually } from '#libs/testing';
import { sealCompact } from '../../apps/sandbox/src/crypto/compact-jwe.js';
import { generateKeyPair } from '../../apps/sandbox/src/crypto/ec-key.js';
import { type Caller, ROUTES } from './callers.js';
import {
  answer,
  errorBody,
  good,
  type HostileGateway,
  outcomeOf,
  type Play,
  refusing,
  type SeenRequest,
  type SentAnswer,
} from './hostile-gateway.js';
import type { PlayedBroker } from './played-broker.js';
import { PlayedStage } from './played-stage.js';
import type { RunningEgress } from './running-egress.js';

const PAYMENT = { merchantRequestId: 'payment-1', coinAmount: 12_500 };

const deviceIds = (requests: readonly SeenRequest[]): readonly string[] =>
  requests.flatMap((request) => request.valuesOf('x-device_id'));

describe('a session that the gateway calls dead', () => {
  let stage: PlayedStage;
  let broker: PlayedBroker;
  let gateway: HostileGateway;
  let egress: RunningEgress;
  let callers: readonly Caller[];

  beforeAll(async () => {
    stage = await PlayedStage.start();
    ({ broker, gateway, egress } = stage);
    callers = egress.callers();
  });
  beforeEach(() => void broker.rejections.splice(0));
  afterAll(() => stage.close());

  const whole = (requests: readonly SeenRequest[]): boolean =>
    requests.every((request) => request.isWhole && gateway.sessionOf(request) !== undefined);

  it.each<[string, number, readonly string[]]>([
    ['b_session_doesnt_exists', 200, ['content-type: text/plain']],
    ['b_expired_token', 401, []],
  ])('%s under %i: reported, sealed anew and repeated once', async (code, status, headers) => {
    for (const caller of callers)
      for (const route of ROUTES) {
        broker.rejections.length = 0;
        await gateway.script(refusing(status, errorBody(code), headers));
        expect(outcomeOf(await caller.pay(route, PAYMENT))).toBe('good');
        expect(gateway.seen).toHaveLength(2);
        expect(whole(gateway.seen)).toBe(true);
        expect(new Set(deviceIds(gateway.seen)).size).toBe(2);
        expect(broker.rejections).toMatchObject([{ merchant: 'shop', reason: code }]);
        if (route === 'clear') continue;
        const [first = '', second] = gateway.seen.map((request) => request.body.toString());
        expect(first).not.toBe(second);
        expect(gateway.seen.map((request) => JSON.parse(gateway.plaintextOf(request)) as unknown)).toEqual([
          PAYMENT,
          PAYMENT,
        ]);
      }
  });

  it('is told to the caller as it is when the second one is dead as well', async () => {
    for (const caller of callers)
      for (const route of ROUTES) {
        const sent = { status: 401, body: errorBody('b_used_token') };
        await gateway.script(refusing(401, errorBody('b_expired_token')), refusing(sent.status, sent.body));
        expect(outcomeOf(await caller.pay(route, PAYMENT), sent)).toBe('as sent');
        expect(gateway.seen).toHaveLength(2);
        expect(new Set(deviceIds(gateway.seen)).size).toBe(2);
      }
  });

  it.each([
    ['a page', '<html>401</html>'],
    ['a code that nobody knows', errorBody('b_something_else')],
  ])('is not one by a 401 with %s: passed on, and not repeated', async (_what, body) => {
    for (const caller of callers)
      for (const route of ROUTES) {
        await gateway.script(refusing(401, body));
        const given = await caller.pay(route, PAYMENT);
        expect(outcomeOf(given, { status: 401, body })).toBe('as sent');
        expect(gateway.seen).toHaveLength(1);
        if (!body.includes('msgCode')) await eventually(() => broker.rejections.length > 0);
        broker.rejections.length = 0;
      }
  });

  /** Payments that were carried out, with a dead session's code somewhere in the bank's answer. */
  it.each([
    ['in a member', { hppOrderId: 'order-1', transactionResponseInfo: { msgCode: 'b_expired_token' } }],
    ['in a list', [{ msgCode: 'b_expired_token' }]],
  ])('is not one by an answer that has such a code %s', async (_where, body) => {
    for (const caller of callers) {
      broker.rejections.length = 0;
      const sent = { status: 200, body: JSON.stringify(body) };
      await gateway.script(refusing(sent.status, sent.body));
      expect(outcomeOf(await caller.pay('clear', PAYMENT), sent)).toBe('as sent');
      expect(gateway.seen).toHaveLength(1);
      expect(broker.rejections).toEqual([]);
    }
  });

  it('is not one by a sealed answer that has such a code beside it', async () => {
    await gateway.script({
      run: ({ socket, good }) =>
        void socket.write(answer(200, JSON.stringify({ ...(JSON.parse(good) as object), msgCode: 'b_expired_token' }))),
    });
    for (const caller of callers.slice(0, 1)) expect(outcomeOf(await caller.pay('sealed', PAYMENT))).toBe('good');
    expect(gateway.seen).toHaveLength(1);
  });

  it('is no longer one by a bare 401 that comes after another request with it was accepted', async () => {
    const plain = egress.plain();
    let refuse = (): void => undefined;
    const late: Play = { run: ({ socket }) => void (refuse = () => void socket.write(answer(401, ''))) };
    await gateway.script(late, good);
    const refused = plain.pay('clear', PAYMENT);
    await eventually(() => gateway.seen.length === 1);
    expect(outcomeOf(await plain.pay('clear', PAYMENT))).toBe('good');
    refuse();
    expect(outcomeOf(await refused, { status: 401, body: '' })).toBe('as sent');
    expect(outcomeOf(await plain.pay('clear', PAYMENT))).toBe('good');
    expect([broker.rejections, new Set(deviceIds(gateway.seen)).size]).toEqual([[], 1]);
  });

  it('is told to the caller by the bank’s own answer where no newer one comes, and presented to nobody else', async () => {
    const sent = { status: 401, body: errorBody('b_expired_token') };
    for (const caller of callers)
      for (const route of ROUTES) {
        await gateway.script(refusing(sent.status, sent.body));
        broker.replaces = false;
        expect(outcomeOf(await caller.pay(route, PAYMENT), sent)).toBe('as sent');
        expect(outcomeOf(await caller.pay(route, PAYMENT))).toMatch(/^503/);
        expect(gateway.seen).toHaveLength(1);
        broker.replaces = true;
        expect(outcomeOf(await caller.pay(route, PAYMENT))).toBe('good');
      }
  });

  it('leads to no third request when the second answer is lost', async () => {
    const second: Play = { run: ({ socket }) => void socket.resetAndDestroy() };
    for (const caller of callers)
      for (const route of ROUTES) {
        await gateway.script(refusing(401, errorBody('b_expired_token')), second);
        expect(outcomeOf(await caller.pay(route, PAYMENT))).toBe('502 answer_lost');
        expect(gateway.seen).toHaveLength(2);
      }
  });

  it('is reported once by a hundred requests that meet it, each of which is repeated once', async () => {
    const plain = egress.plain();
    for (const route of ROUTES) {
      broker.rejections.length = 0;
      const dead = refusing(401, errorBody('b_expired_token'));
      const first = broker.sessions.at(-1)?.deviceId;
      const judged: Play = {
        run: (part) => (part.request.valuesOf('x-device_id')[0] === first ? dead : good).run(part),
      };
      await gateway.script(...Array.from({ length: 250 }, () => judged));
      const payments = Array.from({ length: 100 }, (_, index) => plain.pay(route, { merchantRequestId: `p-${index}` }));
      const told = (await Promise.all(payments)).map((given) => outcomeOf(given));
      expect(new Set(told)).toEqual(new Set(['good']));
      expect(broker.rejections).toHaveLength(1);
      expect(gateway.seen.length).toBeLessThanOrEqual(200);
      expect(whole(gateway.seen)).toBe(true);
    }
  });
});

const PAGE = '<html><body>The request was rejected.</body></html>';
const say =
  (text: (good: string) => string | Buffer): Play['run'] =>
  ({ socket, good: body }) =>
    void socket.write(text(body));
const sayAndEnd =
  (text: (good: string) => string): Play['run'] =>
  ({ socket, good: body }) =>
    void socket.end(text(body), 'latin1');
const head = (...headers: readonly string[]): string =>
  ['HTTP/1.1 200 OK', 'content-type: application/json', ...headers, '', ''].join('\r\n');
const gzipped = (body: Buffer): Buffer =>
  Buffer.concat([Buffer.from(head('content-encoding: gzip', `content-length: ${body.length}`)), body]);
const twice = [
  ...['connection: x-one', 'connection: keep-alive, x-two', 'x-one: 1', 'x-two: 2'],
  ...['content-encoding: identity', 'content-encoding: Identity', 'content-type: application/json'],
];

/** What is told may be one of several: once the head of an answer has been passed on, all that is left is to end. */
const UNUSABLE = ['502 answer_unusable'];
const LOST = ['502 answer_lost'];
/** What the gateway does, and what a caller is told on a clear and on a sealed route; nothing where it is not asked. */
type Outcomes = readonly string[];
type HostileCase = [string, Play['run'], Outcomes, Outcomes, SentAnswer?];
const cases: HostileCase[] = [
  ['a huge body', say((body) => answer(200, body.padEnd(400_000))), [...UNUSABLE, 'cut'], UNUSABLE],
  ['a compressed body', say((body) => gzipped(gzipSync(body))), UNUSABLE, UNUSABLE],
  [
    'a body that ends too early',
    sayAndEnd((body) => head(`content-length: ${body.length + 9}`) + body),
    [...LOST, 'cut'],
    LOST,
  ],
  [
    'a page of HTML',
    say(() => answer(200, PAGE).replace('application/json', 'text/html')),
    ['as sent'],
    UNUSABLE,
    { status: 200, body: PAGE },
  ],
  [
    'an answer for the key of a stranger',
    say(() => answer(200, JSON.stringify({ jwe: sealCompact('{}', generateKeyPair()) }))),
    [],
    ['502 answer_unopened'],
  ],
  ['a jwe that is no text', say(() => answer(200, '{"jwe":5}')), [], UNUSABLE],
  ['no HTTP', sayAndEnd(() => 'SSH-2.0-OpenSSH_9.2\r\n\r\n'), UNUSABLE, UNUSABLE],
  [
    'headers that are too large',
    sayAndEnd((body) => answer(200, body, [`x-padding: ${'x'.repeat(70_000)}`])),
    UNUSABLE,
    UNUSABLE,
  ],
  [
    'two lengths',
    sayAndEnd((body) => answer(200, body, ['content-length: 3'])),
    [...UNUSABLE, ...LOST],
    [...UNUSABLE, ...LOST],
  ],
  ['headers that were sent twice', say((body) => answer(200, body, twice)), ['good'], ['good']],
  ['a redirect', say(() => answer(302, '{}', ['location: /elsewhere'])), UNUSABLE, UNUSABLE],
  ...[200, 401].map((status) => {
    const sent = { status, body: errorBody('b_auth_token_expired') };
    return [
      `a refusal under ${status}`,
      say(() => answer(status, sent.body)),
      ['as sent'],
      ['as sent'],
      sent,
    ] satisfies HostileCase;
  }),
];

describe('what a gateway may answer', () => {
  let stage: PlayedStage;
  let callers: readonly Caller[];

  beforeAll(async () => {
    stage = await PlayedStage.start();
    callers = stage.egress.callers();
    for (const caller of callers) await caller.pay('clear', {});
  });
  afterAll(() => stage.close());

  it.each<HostileCase>(cases)('%s: said as it is, and asked once', async (...[, run, clear, sealed, sent]) => {
    const { broker, gateway } = stage;
    for (const [route, expected] of [['clear', clear] as const, ['sealed', sealed] as const]) {
      if (expected.length === 0) continue;
      await gateway.script({ run }, { run });
      const told = await Promise.all(callers.map((caller) => caller.pay(route, PAYMENT)));
      expect(told.map((each) => outcomeOf(each, sent)).filter((each) => !expected.includes(each))).toEqual([]);
      expect(gateway.connections).toBeLessThanOrEqual(callers.length);
      expect(gateway.seen.length).toBeLessThanOrEqual(callers.length);
    }
    expect(broker.rejections).toEqual([]);
  });

  it('a reset when the connection opens: nothing was sent, or nobody knows', async () => {
    await stage.gateway.script();
    stage.gateway.isClosedToAll = true;
    for (const caller of callers)
      expect(outcomeOf(await caller.pay('sealed', PAYMENT))).toMatch(/^502 (answer_lost|gateway_unreachable)$/);
    stage.gateway.isClosedToAll = false;
    expect(stage.gateway.connections).toBe(2);
  });
});
