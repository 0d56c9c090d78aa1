import { randomUUID } from 'node:crypto';
import { eventually } from '#libs/testing';
import { orderRequest } from '../sandbox/order-request.js';
import { type Answer, type Caller, PATHS } from './callers.js';
import { EgressStage } from './egress-stage.js';
import { answer as whole, HostileGateway, PAID, type Play } from './hostile-gateway.js';
import { outcomeOf } from './outcome.js';
import { PlayedBroker } from './played-broker.js';
import { PlayedStage } from './played-stage.js';
import { RunningEgress } from './running-egress.js';

const GOOD = { good: JSON.stringify(PAID) };

/** Payments at a steady pace, whether or not earlier ones have been answered, until the test has enough. */
async function payUntil(
  isEnough: () => boolean | Promise<boolean>,
  pay: (number: number) => Promise<Answer>,
): Promise<Answer[]> {
  const under: Promise<Answer>[] = [];
  const pace = setInterval(() => under.push(pay(under.length)), 10);
  try {
    await eventually(isEnough);
  } finally {
    clearInterval(pace);
  }
  return Promise.all(under);
}

/** Refused for lack of a session, without waiting: a wait would always take longer than this, on any machine. */
async function refusedAtOnce(pay: () => Promise<Answer>): Promise<void> {
  await eventually(async () => {
    const given = await pay();
    expect([given.status, given.code]).toEqual([503, 'session_unavailable']);
    expect(Number(given.headers['retry-after'])).toBeGreaterThan(0);
    return given.tookMs < 500;
  });
}

describe('payments over renewals', () => {
  const closing: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const each of closing.splice(0).reverse()) await each.close();
  });

  const playedStage = async (): Promise<PlayedStage> => {
    const stage = await PlayedStage.start();
    closing.push(stage);
    return stage;
  };

  it('are each of one generation through a hundred of them: headers, key of the body and answer', async () => {
    const { broker, gateway, egress } = await playedStage();
    const callers = egress.callers();
    await egress.plain().pay('clear', {});
    await eventually(() => broker.followers > 0);
    let renewals = 0;
    const mixed: string[] = [];
    const judged: Play = {
      run: ({ request, gateway: at, good, socket }) => {
        const session = at.sessionOf(request);
        const isOne = session?.refreshToken === request.valuesOf('x-refresh_token')[0];
        // Opening throws unless the body is sealed to the key of the session that the headers name.
        if (!isOne || (request.target === PATHS.sealed && at.plaintextOf(request) === '')) mixed.push(request.target);
        socket.write(whole(200, good));
      },
    };
    await gateway.script(...Array.from({ length: 20_000 }, () => judged));
    const pay = (number: number): Promise<Answer> => {
      if (number % 2 === 0) broker.renew();
      renewals += number % 2;
      return callerAt(callers, number).pay(number % 4 < 2 ? 'clear' : 'sealed', { merchantRequestId: randomUUID() });
    };
    const answers = await payUntil(() => renewals >= 100, pay);
    expect(new Set(answers.map((given) => outcomeOf(given, GOOD)))).toEqual(new Set(['good']));
    expect(mixed).toEqual([]);
    expect(gateway.seen).toHaveLength(answers.length);
    expect(new Set(gateway.seen.flatMap((request) => request.valuesOf('x-device_id'))).size).toBeGreaterThan(50);
    expect(broker.rejections).toEqual([]);
  });

  it('wait while the session is handed over, and those that run are let end first', async () => {
    const { broker, gateway, egress } = await playedStage();
    const plain = egress.plain();
    await plain.pay('clear', {});
    await eventually(() => broker.followers > 0);
    await gateway.script();
    broker.announceHandover(5_000);
    await eventually(() => broker.readyReports > 0);
    const held = [plain.pay('clear', {}), plain.pay('sealed', {})];
    const outcome = await Promise.race([
      ...held,
      new Promise<'waits'>((resolve) => setTimeout(() => resolve('waits'), 300)),
    ]);
    expect([outcome, gateway.seen.length]).toEqual(['waits', 0]);
    const { deviceId } = broker.renew();
    expect((await Promise.all(held)).map((given) => outcomeOf(given, GOOD))).toEqual(['good', 'good']);
    expect(gateway.seen.map((request) => request.valuesOf('x-device_id'))).toEqual([[deviceId], [deviceId]]);
  });

  it('are neither refused, lost nor doubled when each new session ends the one before at once', async () => {
    const timing = { lifetimeMs: 5_000, handover: '2s', timeout: '500ms', supersedes: true };
    const stage = await EgressStage.start({ ...timing, settings: { duplicates: 'accepted' } });
    closing.push(stage);
    const egress = await stage.egress();
    const callers = egress.callers();
    for (const caller of callers) await caller.pay('clear', orderRequest());
    const first = await stage.createCalls();
    const pay = (number: number): Promise<Answer> => callerAt(callers, number).pay('clear', orderRequest());
    const answers = await payUntil(async () => (await stage.createCalls()) >= first + 5, pay);
    const refused = answers.filter(({ status, text }) => status !== 200 || !text.includes('hppOrderId'));
    expect(refused.map(({ text }) => text)).toEqual([]);
    const { totals } = await stage.ledger('?limit=0');
    const payments = answers.length + callers.length;
    expect(totals).toMatchObject({
      payments,
      accepted: payments,
      requests: payments,
      refused: 0,
      repeated: 0,
      doubled: 0,
    });
  });

  it('go on without the broker until the session ends; then there is none, and that is said at once', async () => {
    const stage = await EgressStage.start({ lifetimeMs: 8_000 });
    closing.push(stage);
    const egress = await stage.egress();
    const callers = egress.callers();
    for (const caller of callers) await caller.pay('clear', orderRequest());
    await stage.closeBroker();
    for (const caller of callers) {
      const given = await caller.pay('clear', orderRequest());
      expect(given.text).toContain('hppOrderId');
    }
    const plain = egress.plain();
    await eventually(async () => (await plain.pay('clear', orderRequest())).status !== 200);
    for (const caller of callers)
      for (const route of ['clear', 'sealed'] as const) {
        await refusedAtOnce(() => caller.pay(route, orderRequest()));
      }
    const { totals } = await stage.ledger();
    expect(totals).toMatchObject({ refused: 0, repeated: 0, doubled: 0 });
  });

  it('are refused at once by an egress whose broker has no session, and go on with the first that it has', async () => {
    const broker = await PlayedBroker.start();
    broker.serves = 'none';
    const gateway = await HostileGateway.before(broker);
    const egress = await RunningEgress.start({ broker, gatewayUrl: gateway.url });
    closing.push(broker, gateway, egress);
    const callers = egress.callers();
    await eventually(async () => (await egress.plain().pay('clear', {})).status === 503);
    for (const caller of callers) {
      await refusedAtOnce(() => caller.pay('sealed', {}));
    }
    expect(gateway.seen).toEqual([]);
    broker.serves = 'sessions';
    await eventually(async () => outcomeOf(await egress.plain().pay('clear', {}), GOOD) === 'good');
  });

  it('are told that they were carried out, when only the opening of the answer fails', async () => {
    const { broker, gateway, egress } = await playedStage();
    for (const caller of egress.callers()) {
      await caller.pay('clear', {});
      await gateway.script();
      broker.opens = false;
      const given = await caller.pay('sealed', {});
      expect([given.status, given.code]).toEqual([502, 'answer_unopened']);
      expect(gateway.seen).toHaveLength(1);
      broker.opens = true;
    }
  });
});

function callerAt(callers: readonly Caller[], number: number): Caller {
  const caller = callers[number % callers.length];
  if (caller === undefined) throw new Error('there are no callers');
  return caller;
}
