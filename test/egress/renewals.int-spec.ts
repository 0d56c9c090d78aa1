import { randomUUID } from 'node:crypto';
import { eventually, FakeClock } from '#libs/testing';
import { orderRequest } from '../sandbox/order-request.js';
import { type Answer, type Caller, PATHS, type Route, ROUTES } from './callers.js';
import { EgressStage } from './egress-stage.js';
import { answer as whole, outcomeOf, type Play } from './hostile-gateway.js';
import { PlayedStage } from './played-stage.js';

const HOUR_MS = 3_600_000;

describe('payments over renewals', () => {
  const closing: { close(): Promise<void> }[] = [];
  /** On it no wait ever ends by itself: what is answered has not waited. */
  let clock: FakeClock;
  beforeEach(() => {
    clock = new FakeClock(new Date().toISOString());
  });
  const whileTimePasses = async <T>(run: () => Promise<T>): Promise<T> => {
    const passing = setInterval(() => void clock.advance(100), 10);
    return run().finally(() => clearInterval(passing));
  };
  afterEach(() =>
    whileTimePasses(async () => {
      for (const each of closing.splice(0).reverse()) await each.close();
    }),
  );

  const playedStage = async (): Promise<PlayedStage> => {
    const stage = await PlayedStage.start({ clock });
    closing.push(stage);
    return stage;
  };

  it('are each of one generation through a hundred of them: headers, key of the body and answer', async () => {
    const { broker, gateway, egress } = await playedStage();
    const callers = egress.callers();
    await egress.plain().pay('clear', {});
    await eventually(() => broker.followed.length > 0);
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
    const pay = (caller: Caller, route: Route): Promise<Answer> =>
      caller.pay(route, { merchantRequestId: randomUUID() });
    const devices = (): string[] => gateway.seen.flatMap((request) => request.valuesOf('x-device_id'));
    const under: Promise<Answer>[] = [];
    for (let renewals = 0; renewals < 100; renewals += 1) {
      // Those are under way while the session is replaced; the ones after them wait until the egress has heard of it.
      under.push(...callers.flatMap((caller) => ROUTES.map((route) => pay(caller, route))));
      const { deviceId } = broker.renew();
      do {
        const next = pay(callerAt(callers, under.length), 'sealed');
        under.push(next);
        await next;
      } while (!devices().includes(deviceId));
    }
    const answers = await Promise.all(under);
    expect(new Set(answers.map((given) => outcomeOf(given)))).toEqual(new Set(['good']));
    expect(mixed).toEqual([]);
    expect(gateway.seen).toHaveLength(answers.length);
    expect(broker.rejections).toEqual([]);
  });

  it('are neither refused, lost nor doubled when each new session ends the one before at once', async () => {
    const stage = await EgressStage.start({ clock, handover: '2s', settings: { duplicates: 'accepted' } });
    closing.push(stage);
    const egress = await stage.egress();
    const callers = egress.callers();
    const under: Promise<Answer>[] = [];
    const pay = (): void => void under.push(callerAt(callers, under.length).pay('clear', orderRequest()));
    pay();
    await under[0];
    for (let renewals = 1; renewals <= 5; renewals += 1) {
      const fault = { kind: 'hold', operation: 'create-order', times: 1 };
      const { id } = (await stage.control('POST', '/faults', fault)) as { readonly id: number };
      pay();
      await stage.control('GET', `/calls?operation=create-order&until=arrived&waitFor=${under.length}`);
      // The renewal falls due while a payment is with the bank.
      clock.freeze(0.85 * HOUR_MS);
      const pace = setInterval(pay, 10);
      await eventually(() => under.length >= 20 * renewals);
      await stage.control('POST', `/faults/${id}/release`);
      await eventually(async () => (await stage.createCalls()) > renewals);
      clearInterval(pace);
      await Promise.all(under);
    }
    const answers = await Promise.all(under);
    const refused = answers.filter(({ status, text }) => status !== 200 || !text.includes('hppOrderId'));
    expect(refused.map(({ text }) => text)).toEqual([]);
    const { totals } = await stage.ledger('?limit=0');
    const payments = answers.length;
    expect(totals).toMatchObject({
      payments,
      accepted: payments,
      requests: payments,
      refused: 0,
      repeated: 0,
      doubled: 0,
    });
  });
});

function callerAt(callers: readonly Caller[], number: number): Caller {
  const caller = callers[number % callers.length];
  if (caller === undefined) throw new Error('there are no callers');
  return caller;
}
