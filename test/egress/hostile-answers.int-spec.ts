import type { Caller, Route } from './callers.js';
import type { HostileGateway } from './hostile-gateway.js';
import { PAID } from './hostile-gateway.js';
import { HOSTILE_CASES, TIMEOUT_MS } from './hostile-plays.js';
import { outcomeOf } from './outcome.js';
import type { PlayedBroker } from './played-broker.js';
import { PlayedStage } from './played-stage.js';
import type { RunningEgress } from './running-egress.js';

/** Generous, for a busy machine: what matters is that there is a bound. */
const BOUND_MS = 20_000;
const ROUTES: readonly Route[] = ['clear', 'sealed'];

describe('what a gateway may answer', () => {
  let stage: PlayedStage;
  let broker: PlayedBroker;
  let gateway: HostileGateway;
  let egress: RunningEgress;
  let callers: readonly Caller[];

  beforeAll(async () => {
    stage = await PlayedStage.start({ timeoutMs: TIMEOUT_MS });
    ({ broker, gateway, egress } = stage);
    callers = egress.callers();
    for (const caller of callers) await caller.pay('clear', {});
  });
  afterAll(() => stage.close());

  const cases = HOSTILE_CASES.flatMap((each) =>
    ROUTES.filter((route) => each.outcome[route].length > 0).map((route) => ({ ...each, route })),
  );

  it.each(cases)('$name, $route: said as it is, in bounded time, and asked once', async (hostile) => {
    const { route, plays, outcome, sent } = hostile;
    // Both forms at once: most of these cases are a matter of waiting.
    await gateway.script(...callers.flatMap(() => plays));
    const told = callers.map(async (caller) => {
      const answer = await caller.pay(route, { merchantRequestId: 'payment-1' });
      expect(answer.tookMs).toBeLessThan(BOUND_MS);
      return outcomeOf(answer, { good: JSON.stringify(PAID), ...(sent && { sent }) });
    });
    const expected = [outcome[route]].flat();
    expect((await Promise.all(told)).filter((each) => !expected.includes(each))).toEqual([]);
    expect(gateway.connections).toBeLessThanOrEqual(callers.length);
    expect(gateway.seen.length).toBeLessThanOrEqual(callers.length);
    expect(broker.rejections).toEqual([]);
  });

  it('goes on afterwards as if nothing had been', async () => {
    await gateway.script();
    for (const caller of callers)
      for (const route of ROUTES) {
        const answer = await caller.pay(route, { merchantRequestId: 'payment-1' });
        expect(outcomeOf(answer, { good: JSON.stringify(PAID) })).toBe('good');
      }
    expect(broker.sessions).toHaveLength(1);
  });
});
