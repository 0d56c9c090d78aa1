import { aSession, FakeClock, someSettings } from '#libs/testing';
import { HeldSessions } from './held-sessions.js';
import { type AttemptPorts, PUBLISH_ALLOWANCE_MS, RenewalAttempt } from './renewal-attempt.js';

const settings = someSettings({ gatewayTimeoutMs: 5_000 });

function attemptWith(leftMs: number): RenewalAttempt {
  const clock = new FakeClock();
  clock.freeze(1_000);
  const held = new HeldSessions(clock);
  held.adopt(aSession({ generation: 8 }), 0);
  const lease = { merchant: 'shop', owner: 'replica-1', fence: 10, remainingMs: leftMs, failures: 0 };
  return new RenewalAttempt({ clock, held } as unknown as AttemptPorts, {
    lease: { lease, endsAtMs: 1_000 + leftMs },
    settings,
    onIssued: () => undefined,
  });
}

describe('the rest of a lease', () => {
  it.each([
    [5_000 + PUBLISH_ALLOWANCE_MS, true],
    [5_000 + PUBLISH_ALLOWANCE_MS - 1, false],
    [1, false],
    [0, false],
  ])('of %d ms is long enough for the longest call and its publication: %s', (leftMs, isLongEnough) => {
    expect(attemptWith(leftMs).isLongEnough).toBe(isLongEnough);
  });
});
