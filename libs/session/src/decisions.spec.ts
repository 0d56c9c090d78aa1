import { decideServing, EARLY_RENEWAL_COOL_DOWN_MS, waitsForRenewal } from './decisions.js';
import fc from 'fast-check';

const alive = { held: true, leftMs: 100_000, freshMs: 95_000 };
const read = { ...alive, ageMs: 100_000, lifetimeMs: 200_000, minRemainingMs: 0 };

describe('serving', () => {
  const table = {
    'nothing is held: unavailable': [{ held: false, leftMs: 0, freshMs: 0 }, 'unavailable', 'no_session'],
    'the session is alive: fresh': [alive, 'fresh', 'current'],
    'one millisecond before the margin: fresh': [{ held: true, leftMs: 5_001, freshMs: 1 }, 'fresh', 'current'],
    'at the margin: stale': [{ held: true, leftMs: 5_000, freshMs: 0 }, 'stale', 'past_margin'],
    'one millisecond before expiry: stale': [{ held: true, leftMs: 1, freshMs: -4_999 }, 'stale', 'past_margin'],
    'at expiry: unavailable': [{ held: true, leftMs: 0, freshMs: -5_000 }, 'unavailable', 'expired'],
  } as const;

  it.each(Object.entries(table))('%s', (_name, [facts, result, reason]) => {
    expect(decideServing(facts)).toEqual({ result, reason });
  });

  it('never hands out a session past its expiry', () => {
    fc.assert(
      fc.property(fc.double({ max: 0, noNaN: true }), fc.double({ noNaN: true }), (leftMs, freshMs) => {
        return decideServing({ held: true, leftMs, freshMs }).result === 'unavailable';
      }),
    );
  });
});

describe('a read', () => {
  const table = {
    'nothing is held: the reader waits': [{ ...read, held: false, leftMs: 0, freshMs: 0 }, 'wait'],
    'the session has expired: the reader waits': [{ ...read, leftMs: 0, freshMs: -1 }, 'wait'],
    'the session is alive: nothing to do': [read, 'no'],
    'the margin is reached: the reader is served at once': [{ ...read, freshMs: 0 }, 'no'],
    'less is left than wanted: the reader waits': [{ ...read, minRemainingMs: 100_001 }, 'wait'],
    'exactly what is wanted is left: nothing to do': [{ ...read, minRemainingMs: 100_000 }, 'no'],
    'less is left than wanted, but the session is new: nothing to do': [
      { ...read, minRemainingMs: 140_000, ageMs: 49_999 },
      'no',
    ],
    'less is left than wanted, and a quarter of the lifetime has passed: the reader waits': [
      { ...read, minRemainingMs: 140_000, ageMs: 50_000 },
      'wait',
    ],
    'a quarter of a short lifetime has passed, but not the cool-down: nothing to do': [
      { ...read, lifetimeMs: 20_000, leftMs: 11_000, minRemainingMs: 12_000, ageMs: EARLY_RENEWAL_COOL_DOWN_MS - 1 },
      'no',
    ],
    'more is wanted than three quarters of a lifetime: what is there has to do': [
      { ...read, minRemainingMs: 150_001 },
      'no',
    ],
    'three quarters of a lifetime are wanted: the reader waits': [{ ...read, minRemainingMs: 150_000 }, 'wait'],
    'the impossible is wanted past the margin: the reader is served at once': [
      { ...read, minRemainingMs: 1e9, freshMs: 0 },
      'no',
    ],
  } as const;

  it.each(Object.entries(table))('%s', (_name, [facts, renew]) => {
    expect(waitsForRenewal(facts)).toBe(renew === 'wait');
  });
});
