import { GatewayFailure, type SessionEvent } from '#libs/session';
import { FakeClock } from '#libs/testing';
import { MAX_RENEWALS, RenewalHistory } from './renewal-history.js';

type Finished = Extract<SessionEvent, { event: 'renewal_finished' }>;

const finished = (overrides: Partial<Finished> = {}): Finished => ({
  event: 'renewal_finished',
  merchant: 'shop',
  trigger: 'schedule',
  outcome: 'success',
  durationMs: 10_900,
  callMs: 99.6,
  generation: 7,
  ...overrides,
});
const refusedClaim = (reason: 'budget_exhausted' | 'held'): SessionEvent => ({
  event: 'claim_refused',
  merchant: 'shop',
  trigger: 'schedule',
  reason,
});

describe('the renewal history', () => {
  it('keeps when, why, how and how long, the oldest first', async () => {
    const clock = new FakeClock();
    const history = new RenewalHistory(clock);
    const failure = new GatewayFailure({ kind: 'transient', msgCode: 'b_server_is_overloaded', detail: 'overloaded' });
    history.emit(finished());
    await clock.advance(1_000);
    history.emit(finished({ outcome: 'transient', failure, trigger: 'demand', generation: 8 }));
    const at = clock.now();
    expect(history.of('shop')).toEqual([
      { at: at - 1_000, generation: 7, outcome: 'success', trigger: 'schedule', callMs: 100 },
      { at, generation: 8, outcome: 'transient', trigger: 'demand', callMs: 100, code: 'b_server_is_overloaded' },
    ]);
    expect(history.of('other')).toEqual([]);
  });

  it('shows a session of another replica once, and its own as the renewal that it was', () => {
    const history = new RenewalHistory(new FakeClock());
    const adopted = {
      event: 'session_adopted',
      merchant: 'shop',
      generation: 7,
      ageMs: 0,
      serverKeyChanged: true,
    } as const;
    history.emit({ ...adopted, source: 'own' });
    expect(history.of('shop')).toEqual([]);
    history.emit({ ...adopted, source: 'store' });
    expect(history.of('shop')).toEqual([{ at: expect.any(Number), generation: 7, outcome: 'adopted' }]);
  });

  it('keeps the last renewals of a merchant, and the merchants that last had news', () => {
    const history = new RenewalHistory(new FakeClock(), 3);
    for (let generation = 1; generation <= MAX_RENEWALS + 5; generation += 1) history.emit(finished({ generation }));
    expect(history.of('shop').map(({ generation }) => generation)).toEqual(
      Array.from({ length: MAX_RENEWALS }, (_, index) => index + 6),
    );
    for (const merchant of ['a', 'b', 'shop', 'c']) history.emit(finished({ merchant }));
    expect(['a', 'b', 'shop', 'c'].map((merchant) => history.of(merchant).length)).toEqual([0, 1, MAX_RENEWALS, 1]);
  });

  it('knows whether the budget was spent when a call was last wanted', () => {
    const history = new RenewalHistory(new FakeClock());
    history.emit(refusedClaim('held'));
    expect(history.isBudgetSpent('shop')).toBe(false);
    history.emit(refusedClaim('budget_exhausted'));
    expect(history.isBudgetSpent('shop')).toBe(true);
    history.emit({ event: 'lease_granted', merchant: 'shop', trigger: 'schedule' });
    expect(history.isBudgetSpent('shop')).toBe(false);
  });
});
