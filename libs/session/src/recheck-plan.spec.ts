import type { Clock, ScheduledTask } from '#libs/clock';
import fc from 'fast-check';
import { FakeClock } from '#libs/testing';
import { RecheckPlan } from './recheck-plan.js';

/** Reads a hair less than the moment a task was scheduled for, as sums of fractions do. */
class ShortClock extends FakeClock implements Clock {
  override monotonicMs(): number {
    return super.monotonicMs() - 1e-9;
  }

  override schedule(delayMs: number, task: () => void): ScheduledTask {
    return super.schedule(delayMs - 1e-9, task);
  }
}

/** Records how long timers were asked to run. */
class CountingClock extends FakeClock {
  readonly delaysMs: number[] = [];

  override schedule(delayMs: number, task: () => void): ScheduledTask {
    this.delaysMs.push(delayMs);
    return super.schedule(delayMs, task);
  }
}

interface Told {
  readonly atMs: number;
  readonly merchants: readonly string[];
}

function planned(...wishes: readonly (readonly [merchant: string, delayMs: number])[]) {
  const clock = new CountingClock();
  const told: Told[] = [];
  const plan = new RecheckPlan(clock, (merchants) => told.push({ atMs: clock.monotonicMs(), merchants }));
  for (const [merchant, delayMs] of wishes) plan.planIn(merchant, delayMs);
  return { clock, plan, told };
}

describe('the plan of looks', () => {
  it('tells of merchants whose moments lie together at once', async () => {
    const clock = new FakeClock();
    const told: (readonly string[])[] = [];
    const plan = new RecheckPlan(clock, (merchants) => told.push(merchants));
    plan.planIn('shop', 900);
    plan.planIn('stall', 990);
    await clock.advance(1_000);
    expect(told).toEqual([['shop', 'stall']]);
    expect(clock.pendingTasks).toBe(0);
  });

  it('goes on when the clock falls short of the moment by a fraction', async () => {
    const clock = new ShortClock();
    const told: (readonly string[])[] = [];
    const plan = new RecheckPlan(clock, (merchants) => told.push(merchants));
    plan.planIn('shop', 1_000);
    await clock.advance(1_000);
    expect(told).toEqual([['shop']]);
  });

  it.each([
    [-700, 0],
    [0, 0],
    [1, 250],
    [250, 250],
    [251, 500],
    [86_400_000, 86_400_000],
  ])('tells of a look in %d ms after %d ms', async (delayMs, atMs) => {
    const { clock, told } = planned(['shop', delayMs]);
    await clock.advance(Math.max(0, atMs - 1));
    expect(told).toEqual(atMs === 0 ? [{ atMs: 0, merchants: ['shop'] }] : []);
    await clock.advance(1);
    expect(told).toEqual([{ atMs, merchants: ['shop'] }]);
  });

  it('counts from the moment of the wish', async () => {
    const { clock, plan, told } = planned();
    clock.freeze(1_100);
    plan.planIn('shop', 100);
    await clock.advance(1_000);
    expect(told).toEqual([{ atMs: 1_250, merchants: ['shop'] }]);
  });

  it('tells of the earliest first, in whatever order they were planned, with one timer for all', async () => {
    const { clock, told } = planned(['third', 3_000], ['first', 1_000], ['second', 2_000], ['with the first', 900]);
    for (const pending of [1, 1, 0]) {
      await clock.advance(1_000);
      expect(clock.pendingTasks).toBe(pending);
    }
    expect(told).toEqual([
      { atMs: 1_000, merchants: ['first', 'with the first'] },
      { atMs: 2_000, merchants: ['second'] },
      { atMs: 3_000, merchants: ['third'] },
    ]);
  });

  it('sets its timer anew only for an earlier moment', () => {
    const { clock } = planned(['shop', 2_000], ['same', 1_990], ['later', 3_000], ['earlier', 1_000]);
    expect(clock.delaysMs).toEqual([2_000, 1_000]);
  });

  it('never asks for a timer in the past', async () => {
    const { clock, told } = planned(['shop', -5_000], ['stall', 250], ['store', 500]);
    clock.freeze(400);
    await clock.advance(100);
    expect(clock.delaysMs.filter((delayMs) => delayMs < 0)).toEqual([]);
    expect(told.flatMap(({ merchants }) => merchants)).toEqual(['shop', 'stall', 'store']);
  });

  it('tells at once of all whose moments have passed while the process was stalled', async () => {
    const { clock, told } = planned(['first', 1_000], ['second', 2_000], ['third', 60_000]);
    clock.freeze(10_000);
    await clock.advance(0);
    expect(told).toEqual([{ atMs: 10_000, merchants: ['first', 'second'] }]);
    expect(clock.pendingTasks).toBe(1);
  });

  it.each([
    ['earlier', 500],
    ['later', 4_000],
  ])('has one moment for each merchant: the last that was wished, %s', async (_name, delayMs) => {
    const { clock, plan, told } = planned(['shop', 2_000]);
    plan.planIn('shop', delayMs);
    await clock.advance(10_000);
    expect(told).toEqual([{ atMs: delayMs, merchants: ['shop'] }]);
  });

  it('does not tell of what was forgotten, and tells of the others of that moment', async () => {
    const { clock, plan, told } = planned(['shop', 1_000], ['stall', 1_000]);
    plan.forget('shop');
    plan.forget('unknown');
    expect([plan.has('shop'), plan.has('stall')]).toEqual([false, true]);
    await clock.advance(2_000);
    expect(told).toEqual([{ atMs: 1_000, merchants: ['stall'] }]);
  });

  it('tells nothing when all of a moment were forgotten, and goes on to the next', async () => {
    const { clock, plan, told } = planned(['shop', 1_000], ['stall', 2_000]);
    plan.forget('shop');
    await clock.advance(1_000);
    expect(told).toEqual([]);
    await clock.advance(1_000);
    expect(told).toEqual([{ atMs: 2_000, merchants: ['stall'] }]);
  });

  it('knows a merchant until it has told of it, and takes the next wish from the one who was told', async () => {
    const clock = new FakeClock();
    const told: Told[] = [];
    const known: boolean[] = [];
    const plan: RecheckPlan = new RecheckPlan(clock, (merchants) => {
      told.push({ atMs: clock.monotonicMs(), merchants });
      known.push(plan.has('shop'));
      if (told.length < 3) plan.planIn('shop', 500);
    });
    plan.planIn('shop', 1_000);
    expect(plan.has('shop')).toBe(true);
    await clock.advance(10_000);
    expect(told.map(({ atMs }) => atMs)).toEqual([1_000, 1_500, 2_000]);
    expect(known).toEqual([false, false, false]);
    expect(clock.pendingTasks).toBe(0);
  });

  it('tells nothing any more once it is closed, and takes no wish', async () => {
    const { clock, plan, told } = planned(['shop', 1_000]);
    plan.close();
    expect([clock.pendingTasks, plan.has('shop')]).toEqual([0, false]);
    plan.planIn('stall', 500);
    expect([clock.pendingTasks, plan.has('stall')]).toEqual([0, false]);
    await clock.advance(2_000);
    expect(told).toEqual([]);
  });

  it('may be closed with nothing planned', () => {
    const { clock, plan } = planned();
    plan.close();
    expect(clock.pendingTasks).toBe(0);
  });

  it('tells of every merchant once, less than a quarter of a second after its moment', async () => {
    const wishes = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.integer({ min: 0, max: 3_000 })));
    await fc.assert(
      fc.asyncProperty(wishes, async (wished) => {
        const { clock, told } = planned(...wished);
        expect(clock.pendingTasks).toBe(wished.length === 0 ? 0 : 1);
        await clock.advance(4_000);
        const last = new Map<string, number>(wished);
        expect(told.flatMap(({ merchants }) => merchants).sort()).toEqual([...last.keys()].sort());
        for (const { atMs, merchants } of told) {
          for (const merchant of merchants) expect(atMs).toBe(Math.ceil((last.get(merchant) ?? 0) / 250) * 250);
        }
      }),
      { numRuns: 50 },
    );
  });
});
