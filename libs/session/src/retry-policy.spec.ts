import { failuresAfter, MAX_UNREACHED_FAILURES, retryDelayMs } from './retry-policy.js';
import type { CreateCallBudget } from './session.js';
import fc from 'fast-check';

const DAY_MS = 86_400_000;
const ofTheDay = (calls: number): CreateCallBudget => [
  { calls: 20, perMs: 600_000 },
  { calls, perMs: DAY_MS },
];
const reached = {
  ...{ failures: 0, retryAfterMs: undefined, wasReached: true, isSealedElsewhere: false, needsInMs: [] },
  ...{ liveForMs: 0, budget: ofTheDay(60) },
} as const;
const transient = { ...reached, kind: 'transient' } as const;

describe('the retry policy', () => {
  it('waits between one and two seconds after the first failure', () => {
    expect(retryDelayMs(transient, 0)).toBe(1_000);
    expect(retryDelayMs(transient, 0.999_999)).toBeCloseTo(2_000, -1);
  });

  it('doubles its bound up to a minute', () => {
    const longest = (failures: number): number => Math.round(retryDelayMs({ ...transient, failures }, 1));
    expect([0, 1, 2, 3, 4, 5, 23].map(longest)).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  });

  it('slows down in a long outage, from a minute on, so that calls are left for its end', () => {
    const paces = (kind: 'transient' | 'refused', random: number): number[] =>
      [24, 25, 26, 27, 28, 29, 30, 5_000].map(
        (failures) => Math.round((100 * retryDelayMs({ ...transient, kind, failures }, random)) / 60_000) / 100,
      );
    expect(paces('transient', 0)).toEqual([1.21, 2, 4, 8, 16, 32, 64, 64]);
    expect(paces('transient', 1)).toEqual([1, 1.5, 3, 6, 12, 24, 48, 48]);
    expect(paces('refused', 0)).toEqual([5, 5, 5, 8, 16, 32, 64, 64]);
  });

  it('pauses for no longer than its budget asks for, nor than four hours, before the jitter', () => {
    const longest = (budget: CreateCallBudget): number => retryDelayMs({ ...transient, failures: 5_000, budget }, 0);
    const minutes = [4, 24, 60, 200, 1_000].map((calls) => Math.round(longest(ofTheDay(calls)) / 60_000));
    expect(minutes).toEqual([240, 240, 64, 17, 3]);
    expect(longest([])).toBe(1_000);
  });

  it('lets an outage of a day spend no more than is allowed in a day, whatever that is and however short its pauses', () => {
    const randoms = [0, 0.25, 0.5, 0.75, 0.999];
    const spentOf = (allowed: number): number => {
      const outage = { ...transient, budget: ofTheDay(allowed) };
      let made = 0;
      for (let atMs = 0; atMs < DAY_MS; made += 1) {
        atMs += Math.min(...randoms.map((random) => retryDelayMs({ ...outage, failures: made }, random)));
      }
      return made;
    };
    const allowed = Array.from({ length: 977 }, (_, index) => index + 24);
    expect(allowed.filter((calls) => spentOf(calls) > calls)).toEqual([]);
  });

  it('never waits less than a second after a failure, whatever failed and however often', () => {
    const kinds = fc.constantFrom('transient', 'timeout', 'invalid_response', 'refused', 'revoked' as const);
    fc.assert(
      fc.property(kinds, fc.nat(), fc.double({ min: 0, max: 0.999, noNaN: true }), (kind, failures, random) => {
        return retryDelayMs({ ...transient, kind, failures, needsInMs: [failures] }, random) >= 1_000;
      }),
    );
  });

  it('honours Retry-After, up to five minutes', () => {
    expect(retryDelayMs({ ...transient, retryAfterMs: 30_000 }, 0)).toBe(30_000);
    expect(retryDelayMs({ ...transient, retryAfterMs: 86_400_000 }, 0)).toBe(300_000);
  });

  it('does not let a short Retry-After undercut the back-off', () => {
    expect(retryDelayMs({ ...transient, failures: 3, retryAfterMs: 1 }, 0.5)).toBe(8_500);
  });

  it('retries slowly what is sealed to another key, once it cannot be a damaged answer any more', () => {
    const sealed = { ...reached, kind: 'invalid_response', isSealedElsewhere: true } as const;
    const pauses = [0, 1, 2, 3, 4].map((failures) => retryDelayMs({ ...sealed, failures }, 0));
    expect(pauses).toEqual([1_000, 1_000, 1_000, 300_000, 300_000]);
    expect(retryDelayMs({ ...sealed, isSealedElsewhere: false, failures: 4 }, 0)).toBe(1_000);
  });

  it.each(['refused', 'revoked'] as const)('retries slowly what only a person can mend: %s', (kind) => {
    const slow = { ...transient, kind, liveForMs: 3_600_000 };
    expect([retryDelayMs(slow, 0), retryDelayMs(slow, 1)]).toEqual([300_000, 330_000]);
  });

  it('is at most three seconds where there was no connection, since nothing was asked of the gateway', () => {
    for (const failures of [0, 1, 5, 50]) {
      const delayMs = retryDelayMs({ ...transient, failures, wasReached: false }, 0.999_999);
      expect(delayMs).toBeLessThanOrEqual(3_000);
      expect(retryDelayMs({ ...transient, failures, wasReached: false }, 0)).toBe(1_000);
    }
  });

  it('counts connections that were refused up to a bound below that of an outage, so that the first call which gets through waits as usual', () => {
    let failures = 0;
    for (let attempt = 0; attempt < 500; attempt += 1) failures = failuresAfter(failures, false);
    expect(failures).toBe(MAX_UNREACHED_FAILURES);
    expect(retryDelayMs({ ...transient, failures }, 1)).toBeLessThanOrEqual(60_000);
    expect([failuresAfter(failures, true), failuresAfter(30, false)]).toEqual([MAX_UNREACHED_FAILURES + 1, 30]);
  });

  it('repeats the first refusals soon where nothing live is served, or once that is over', () => {
    const pauses = (liveForMs: number): number[] =>
      [0, 1, 2, 3, 4].map((failures) => retryDelayMs({ ...transient, kind: 'refused', failures, liveForMs }, 0));
    expect(pauses(0)).toEqual([2_000, 5_000, 15_000, 60_000, 300_000]);
    expect(pauses(10_000)).toEqual([10_000, 10_000, 15_000, 60_000, 300_000]);
    expect(pauses(400_000)).toEqual([300_000, 300_000, 300_000, 300_000, 300_000]);
  });

  describe.each(['transient', 'refused'] as const)('in a long outage, after a failure that is %s', (kind) => {
    const outage = { ...transient, kind, failures: 5_000 };

    it('lets no pause last past the renewal of the session, nor past the last moment to replace it in time', () => {
      const [renewal, last] = [400_000, 1_200_000];
      expect(retryDelayMs({ ...outage, needsInMs: [renewal, last] }, 0)).toBe(renewal);
      expect(retryDelayMs({ ...outage, needsInMs: [0, last] }, 0)).toBe(last);
    });

    it('pauses as long as the budget asks for when these moments have passed, or are further away', () => {
      const longestMs = retryDelayMs(outage, 0);
      expect(retryDelayMs({ ...outage, needsInMs: [-5_000, 0] }, 0)).toBe(longestMs);
      expect(retryDelayMs({ ...outage, needsInMs: [7_200_000, 9_000_000] }, 0)).toBe(longestMs);
    });

    it('does not ask sooner than after any failure of the kind, however near the moment is', () => {
      expect(retryDelayMs({ ...outage, needsInMs: [10] }, 0)).toBe(kind === 'refused' ? 300_000 : 1_000);
    });
  });

  it('pauses for half of what a session has left, once the fault has lasted for more than a minute', () => {
    const pauses = [5, 6, 7].map((failures) => retryDelayMs({ ...transient, failures, liveForMs: 3_600_000 }, 0));
    expect(pauses).toEqual([1_000, 1_800_000, 1_800_000]);
  });

  it('does not let such a moment undercut Retry-After', () => {
    const asked = { ...transient, failures: 5_000, retryAfterMs: 120_000, needsInMs: [30_000] };
    expect(retryDelayMs(asked, 0)).toBe(120_000);
  });
});
