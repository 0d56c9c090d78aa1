import fc from 'fast-check';
import { aRecordedFailure, aSession, FakeClock } from '#libs/testing';
import { FailureBoard } from './failure-board.js';
import { HeldSessions } from './held-sessions.js';
import { KeptWishes } from './kept-wishes.js';

const MINUTE = 60_000;
const SECOND = 1_000;

/** Wishes whose attempts end as given: refused by the budget for some time, or anything else. */
class Keeping {
  readonly clock = new FakeClock();
  readonly held = new HeldSessions(this.clock);
  readonly failures = new FailureBoard();
  readonly made: number[] = [];
  readonly broken: unknown[] = [];
  readonly wishes: KeptWishes;

  constructor(answer: () => number | undefined) {
    this.wishes = new KeptWishes({
      ...this,
      make: () => {
        this.made.push(this.clock.monotonicMs());
        return Promise.resolve().then(answer);
      },
      onBroken: (error) => void this.broken.push(error),
    });
  }

  keep(freeInMs: number, merchant = 'shop'): void {
    this.wishes.keep({ merchant, newerThan: 7, freeInMs });
  }

  adopt(generation: number): void {
    this.held.adopt(aSession({ generation }), 0);
  }

  fail(at: number): void {
    this.failures.note('shop', aRecordedFailure({ at: at as ReturnType<FakeClock['now']> }));
  }
}

describe('a wish that the budget has refused', () => {
  it('is made once, when a call is free', async () => {
    const keeping = new Keeping(() => undefined);
    const { wishes, clock, made } = keeping;
    keeping.keep(MINUTE);
    expect(wishes.freeInMs('shop')).toBe(MINUTE);
    await clock.advance(MINUTE - 1);
    expect([made, wishes.freeInMs('shop')]).toEqual([[], 1]);
    await clock.advance(SECOND);
    expect(made).toHaveLength(1);
    await clock.advance(10 * MINUTE);
    expect([made.length, wishes.freeInMs('shop')]).toEqual([1, undefined]);
  });

  it('waits again when the budget refuses it again, without asking all the time', async () => {
    const answers = [2 * MINUTE, 0, undefined];
    const keeping = new Keeping(() => answers.shift());
    const { wishes, clock, made } = keeping;
    keeping.keep(MINUTE);
    await clock.advance(MINUTE + SECOND);
    expect(made).toHaveLength(1);
    expect(wishes.freeInMs('shop')).toBeGreaterThan(MINUTE);
    await clock.advance(10 * MINUTE);
    expect(made).toHaveLength(3);
    expect((made[2] ?? 0) - (made[1] ?? 0)).toBeGreaterThanOrEqual(250);
  });

  it('is made once where it was asked for twice, when a call is free by what was said last', async () => {
    const keeping = new Keeping(() => undefined);
    const { wishes, clock, made } = keeping;
    keeping.keep(MINUTE);
    keeping.keep(2 * MINUTE);
    expect(wishes.freeInMs('shop')).toBe(2 * MINUTE);
    await clock.advance(MINUTE + SECOND);
    expect(made).toEqual([]);
    await clock.advance(10 * MINUTE);
    expect(made).toHaveLength(1);
  });

  it('is over with a fault of ours, which is told', async () => {
    const fault = new Error('a fault of ours');
    const keeping = new Keeping(() => {
      throw fault;
    });
    const { wishes, clock, broken } = keeping;
    keeping.keep(MINUTE);
    await clock.advance(2 * MINUTE);
    expect([broken, wishes.freeInMs('shop')]).toEqual([[fault], undefined]);
  });

  it('is neither made nor kept once all of them are closed', async () => {
    const keeping = new Keeping(() => undefined);
    const { wishes, clock, made } = keeping;
    keeping.keep(MINUTE);
    wishes.close();
    keeping.keep(MINUTE, 'cafe');
    await clock.advance(2 * MINUTE);
    expect([made, wishes.freeInMs('shop'), wishes.freeInMs('cafe')]).toEqual([[], undefined, undefined]);
  });

  it('is no older session’s business, and no other merchant’s', () => {
    const keeping = new Keeping(() => undefined);
    keeping.keep(MINUTE);
    keeping.adopt(7);
    keeping.failures.note('cafe', aRecordedFailure());
    expect(keeping.wishes.freeInMs('shop')).toBe(MINUTE);
  });

  it('is never made after what ends it, nor twice, nor while the budget refuses it', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('keep' as const), ms: fc.integer({ min: 1, max: 5 * MINUTE }) }),
      fc.record({ kind: fc.constantFrom('newer' as const, 'failed' as const, 'removed' as const) }),
      fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 5 * MINUTE }) }),
    );
    const refusals = fc.array(fc.option(fc.integer({ min: 0, max: MINUTE }), { nil: undefined }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), refusals, async (steps, answers) => {
        let freeAtMs: number | undefined;
        const keeping = new Keeping(() => {
          expect(freeAtMs).toBeLessThanOrEqual(keeping.clock.monotonicMs());
          const freeInMs = answers.shift();
          freeAtMs = freeInMs === undefined ? undefined : keeping.clock.monotonicMs() + freeInMs;
          return freeInMs;
        });
        let generation = 7;
        for (const one of steps) {
          if (one.kind === 'wait') {
            await keeping.clock.advance(one.ms);
          } else if (one.kind === 'keep') {
            freeAtMs = keeping.clock.monotonicMs() + one.ms;
            keeping.wishes.keep({ merchant: 'shop', newerThan: generation, freeInMs: one.ms });
          } else {
            freeAtMs = undefined;
            generation += 1;
            if (one.kind === 'newer') keeping.adopt(generation);
            else if (one.kind === 'failed') keeping.fail(generation);
            else keeping.wishes.drop('shop');
          }
        }
        expect(keeping.broken).toEqual([]);
        await keeping.clock.advance(60 * MINUTE);
        expect([freeAtMs, keeping.wishes.freeInMs('shop')]).toEqual([undefined, undefined]);
      }),
    );
  });
});
