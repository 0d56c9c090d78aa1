import { eventually } from '#libs/testing';
import type { Caller, Route } from './callers.js';
import { answer, good, type HostileGateway, PAID, type Play } from './hostile-gateway.js';
import { outcomeOf } from './outcome.js';
import type { PlayedBroker } from './played-broker.js';
import { PlayedStage } from './played-stage.js';
import { RunningEgress } from './running-egress.js';
import type { SeenRequest } from './seen-request.js';
import { HOSTILE_CASES, TIMEOUT_MS } from './hostile-plays.js';

const ROUTES: readonly Route[] = ['clear', 'sealed'];
const GOOD = { good: JSON.stringify(PAID) };
const PAYMENT = { merchantRequestId: 'payment-1', coinAmount: 12_500 };

const errorBody = (msgCode: string): string =>
  JSON.stringify({ requestId: 'r', serviceId: 's', msgCode, msgType: 'ERROR', msgText: 'T', isLocalized: false });
const refusing = (status: number, body: string, headers: readonly string[] = []): Play => ({
  run: ({ socket }) => void socket.write(answer(status, body, headers)),
});
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
        expect(outcomeOf(await caller.pay(route, PAYMENT), GOOD)).toBe('good');
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
        expect(outcomeOf(await caller.pay(route, PAYMENT), { ...GOOD, sent })).toBe('as sent');
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
        expect(outcomeOf(given, { ...GOOD, sent: { status: 401, body } })).toBe('as sent');
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
      expect(outcomeOf(await caller.pay('clear', PAYMENT), { ...GOOD, sent })).toBe('as sent');
      expect(gateway.seen).toHaveLength(1);
      expect(broker.rejections).toEqual([]);
    }
  });

  it('is not one by a sealed answer that has such a code beside it', async () => {
    await gateway.script({
      run: ({ socket, good }) =>
        void socket.write(answer(200, JSON.stringify({ ...(JSON.parse(good) as object), msgCode: 'b_expired_token' }))),
    });
    for (const caller of callers.slice(0, 1)) expect(outcomeOf(await caller.pay('sealed', PAYMENT), GOOD)).toBe('good');
    expect(gateway.seen).toHaveLength(1);
  });

  it('is no longer one by a bare 401 that comes after another request with it was accepted', async () => {
    const plain = egress.plain();
    let refuse = (): void => undefined;
    const late: Play = { run: ({ socket }) => void (refuse = () => void socket.write(answer(401, ''))) };
    await gateway.script(late, good);
    const refused = plain.pay('clear', PAYMENT);
    await eventually(() => gateway.seen.length === 1);
    expect(outcomeOf(await plain.pay('clear', PAYMENT), GOOD)).toBe('good');
    refuse();
    expect(outcomeOf(await refused, { ...GOOD, sent: { status: 401, body: '' } })).toBe('as sent');
    expect(outcomeOf(await plain.pay('clear', PAYMENT), GOOD)).toBe('good');
    expect([broker.rejections, new Set(deviceIds(gateway.seen)).size]).toEqual([[], 1]);
  });

  it('is told to the caller by the bank’s own answer where no newer one comes, and presented to nobody else', async () => {
    const sent = { status: 401, body: errorBody('b_expired_token') };
    for (const caller of callers)
      for (const route of ROUTES) {
        await gateway.script(refusing(sent.status, sent.body));
        broker.replaces = false;
        expect(outcomeOf(await caller.pay(route, PAYMENT), { ...GOOD, sent })).toBe('as sent');
        expect(outcomeOf(await caller.pay(route, PAYMENT), GOOD)).toMatch(/^503/);
        expect(gateway.seen).toHaveLength(1);
        broker.replaces = true;
        expect(outcomeOf(await caller.pay(route, PAYMENT), GOOD)).toBe('good');
      }
  });

  it('leads to no third request when the second answer is lost', async () => {
    const second: Play = { run: ({ socket }) => void socket.resetAndDestroy() };
    for (const caller of callers)
      for (const route of ROUTES) {
        await gateway.script(refusing(401, errorBody('b_expired_token')), second);
        expect(outcomeOf(await caller.pay(route, PAYMENT), GOOD)).toBe('502 answer_lost');
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
      const told = (await Promise.all(payments)).map((given) => outcomeOf(given, GOOD));
      expect(new Set(told)).toEqual(new Set(['good']));
      expect(broker.rejections).toHaveLength(1);
      expect(gateway.seen.length).toBeLessThanOrEqual(200);
      expect(whole(gateway.seen)).toBe(true);
    }
  });
});

describe('what a gateway may answer', () => {
  let stage: PlayedStage;
  let broker: PlayedBroker;
  let gateway: HostileGateway;
  let egress: RunningEgress;
  let callers: readonly Caller[];
  /** Of an egress that does not wait for long. */
  let hasty: RunningEgress;

  beforeAll(async () => {
    stage = await PlayedStage.start();
    ({ broker, gateway, egress } = stage);
    hasty = await RunningEgress.start({ broker, gatewayUrl: gateway.url, timeoutMs: TIMEOUT_MS });
    callers = egress.callers();
    for (const caller of [...callers, ...hasty.callers()]) await caller.pay('clear', {});
  });
  afterAll(async () => {
    await hasty.close();
    await stage.close();
  });

  const cases = HOSTILE_CASES.flatMap((each) =>
    ROUTES.filter((route) => each.outcome[route].length > 0).map((route) => ({ ...each, route })),
  );

  it.each(cases)('$name, $route: said as it is, and asked once', async (hostile) => {
    const { route, plays, outcome, sent } = hostile;
    const expected = [outcome[route]].flat();
    const asking = expected.some((each) => each.startsWith('504')) ? hasty.callers() : callers;
    // Both forms at once: most of these cases are a matter of waiting.
    await gateway.script(...asking.flatMap(() => plays));
    const told = asking.map(async (caller) => {
      const answer = await caller.pay(route, { merchantRequestId: 'payment-1' });
      return outcomeOf(answer, { good: JSON.stringify(PAID), ...(sent && { sent }) });
    });
    expect((await Promise.all(told)).filter((each) => !expected.includes(each))).toEqual([]);
    expect(gateway.connections).toBeLessThanOrEqual(callers.length);
    expect(gateway.seen.length).toBeLessThanOrEqual(callers.length);
    expect(broker.rejections).toEqual([]);
  });
});
