import fc from 'fast-check';
import { FakeClock } from '#libs/testing';
import { CallCeiling } from './call-ceiling.js';

const budget = [{ calls: 2, perMs: 1_000 }];

function ceilingAfter(...callsAtMs: readonly number[]): { clock: FakeClock; ceiling: CallCeiling } {
  const clock = new FakeClock();
  const ceiling = new CallCeiling(clock);
  for (const atMs of callsAtMs) {
    clock.freeze(atMs - clock.monotonicMs());
    ceiling.called('shop');
  }
  return { clock, ceiling };
}

describe("the ceiling of this process's calls", () => {
  const table = {
    'nothing was called: no wait': [[], 0, 0],
    'one call is left: no wait': [[0], 0, 0],
    'none is left: until the first leaves the window': [[0, 400], 400, 600],
    'in the last millisecond of the window: one more': [[0, 400], 999, 1],
    'the first has left the window: no wait': [[0, 400], 1_000, 0],
    'more were made than are allowed: until all but one have left': [[0, 200, 400], 400, 800],
    'more were made, and the first has left: the second counts': [[0, 200, 400], 1_000, 200],
  } as const;

  it.each(Object.entries(table))('%s', (_name, [callsAtMs, nowMs, waitMs]) => {
    const { clock, ceiling } = ceilingAfter(...callsAtMs);
    clock.freeze(nowMs - clock.monotonicMs());
    expect(ceiling.waitMs('shop', budget)).toBe(waitMs);
    expect(ceiling.waitMs('shop', budget)).toBe(waitMs);
  });

  it('counts each merchant by itself', () => {
    const { ceiling } = ceilingAfter(0, 0);
    expect(ceiling.waitMs('stall', budget)).toBe(0);
    ceiling.called('stall');
    ceiling.called('stall');
    expect(ceiling.waitMs('stall', budget)).toBe(1_000);
  });

  it('holds even when the wall clock is set', () => {
    const { clock, ceiling } = ceilingAfter(0, 0);
    clock.jumpWall(3_600_000);
    expect(ceiling.waitMs('shop', budget)).toBe(1_000);
  });

  it('never lets more calls through than the budget in any window', () => {
    const waits = fc.array(fc.integer({ min: 0, max: 700 }), { maxLength: 60 });
    fc.assert(
      fc.property(waits, fc.integer({ min: 1, max: 4 }), (pauses, calls) => {
        const { clock, ceiling } = ceilingAfter();
        const made: number[] = [];
        for (const pauseMs of pauses) {
          clock.freeze(pauseMs);
          if (ceiling.waitMs('shop', [{ calls, perMs: 1_000 }]) > 0) continue;
          ceiling.called('shop');
          made.push(clock.monotonicMs());
        }
        for (const atMs of made) {
          expect(made.filter((other) => other > atMs - 1_000 && other <= atMs).length).toBeLessThanOrEqual(calls);
        }
      }),
    );
  });

  it('allows a call exactly when the wait that it told is over', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(gaps, (pauses) => {
        const { clock, ceiling } = ceilingAfter();
        for (const pauseMs of pauses) {
          clock.freeze(pauseMs);
          ceiling.called('shop');
        }
        const waitMs = ceiling.waitMs('shop', budget);
        fc.pre(waitMs > 0);
        clock.freeze(waitMs - 1);
        expect(ceiling.waitMs('shop', budget)).toBe(1);
        clock.freeze(1);
        expect(ceiling.waitMs('shop', budget)).toBe(0);
      }),
    );
  });
});
