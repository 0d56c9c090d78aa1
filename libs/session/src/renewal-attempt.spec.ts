import { aSession, FakeClock, someSettings } from '#libs/testing';
import { CallCeiling } from './call-ceiling.js';
import { GatewayFailure } from './gateway-failure.js';
import { FailureBoard } from './failure-board.js';
import { HeldSessions } from './held-sessions.js';
import type { LeaseRelease } from './ports/session-store.js';
import { untraced } from './ports/tracing.js';
import { type AttemptContext, PUBLISH_ALLOWANCE_MS, RenewalAttempt } from './renewal-attempt.js';

const settings = someSettings({ gatewayTimeoutMs: 5_000 });

function attemptWith(leftMs: number): RenewalAttempt {
  const clock = new FakeClock();
  clock.freeze(1_000);
  const held = new HeldSessions(clock);
  held.adopt(aSession({ generation: 8 }), 0);
  const lease = { merchant: 'shop', owner: 'replica-1', fence: 10, remainingMs: leftMs, failures: 0 };
  return new RenewalAttempt({ clock, held } as unknown as AttemptContext, {
    lease: { lease, endsAtMs: 1_000 + leftMs },
    settings,
    onIssued: () => undefined,
    onGivenUp: () => Promise.resolve(),
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

describe('a call that is aborted', () => {
  function aborting() {
    const clock = new FakeClock();
    const releases: LeaseRelease[] = [];
    const gateway = {
      createSession: ({ signal }: { signal: AbortSignal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new GatewayFailure({ kind: 'aborted', detail: 'on purpose' })));
        }),
    };
    const store = { release: async (_lease: unknown, release: LeaseRelease) => releases.push(release) > 0 };
    const ports = {
      clock,
      gateway,
      store,
      held: new HeldSessions(clock),
      failures: new FailureBoard(),
      ceiling: new CallCeiling(clock),
      random: () => 0.5,
      tracing: untraced,
    };
    const lease = { merchant: 'shop', owner: 'replica-1', fence: 10, remainingMs: 10_000, failures: 0 };
    const attempt = new RenewalAttempt(ports as unknown as AttemptContext, {
      lease: { lease, endsAtMs: 10_000 },
      settings,
      onIssued: () => undefined,
      onGivenUp: () => Promise.resolve(),
    });
    return { clock, releases, attempt, held: ports.held };
  }

  it('by the end of its lease is a timeout to everybody else, and is followed by a back-off', async () => {
    const { clock, releases, attempt } = aborting();
    const result = attempt.run(new AbortController().signal);
    await clock.advance(10_000 - PUBLISH_ALLOWANCE_MS);
    expect(await result).toMatchObject({ kind: 'failed', outcome: 'timeout', retryInMs: 1_500 });
    expect(releases).toEqual([{ called: true, nextDueInMs: 1_500, failure: { kind: 'timeout', at: clock.now() } }]);
  });

  it('leaves its fence behind as the floor of the next claim: no call is made twice under one', async () => {
    const { clock, attempt, held } = aborting();
    const result = attempt.run(new AbortController().signal);
    expect(held.floor('shop')).toBe(10);
    await clock.advance(10_000);
    await result;
    expect(held.floor('shop')).toBe(10);
  });

  it('by a shutdown is not a failure, and is not given back to the budget', async () => {
    const { clock, releases, attempt } = aborting();
    const shutdown = new AbortController();
    const result = attempt.run(shutdown.signal);
    await clock.settle();
    shutdown.abort();
    expect(await result).toEqual({ kind: 'abandoned' });
    expect(releases).toEqual([{ called: true, nextDueInMs: 0 }]);
  });
});
