import { jest } from '@jest/globals';
import type { Clock, ScheduledTask } from '#libs/clock';
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

interface Looked {
  readonly atMs: number;
  readonly merchants: readonly string[];
}

function planning(): { clock: FakeClock; plan: RecheckPlan; looks: Looked[] } {
  const clock = new FakeClock();
  const looks: Looked[] = [];
  const plan = new RecheckPlan(clock, (merchants) => looks.push({ atMs: clock.monotonicMs(), merchants }));
  return { clock, plan, looks };
}

describe('the plan of looks', () => {
  it('comes to a merchant at its moment, rounded up to a quarter of a second, and once', async () => {
    const { clock, plan, looks } = planning();
    plan.planIn('shop', 1_001);
    expect(plan.has('shop')).toBe(true);
    await clock.advance(10_000);
    expect(looks).toEqual([{ atMs: 1_250, merchants: ['shop'] }]);
    expect(plan.has('shop')).toBe(false);
    expect(clock.pendingTasks).toBe(0);
  });

  it('takes together those that lie close together, and has one timer for all', async () => {
    const { clock, plan, looks } = planning();
    plan.planIn('late', 2_000);
    plan.planIn('a', 900);
    plan.planIn('b', 1_000);
    plan.planIn('c', 1_001);
    expect(clock.pendingTasks).toBe(1);
    await clock.advance(10_000);
    expect(looks).toEqual([
      { atMs: 1_000, merchants: ['a', 'b'] },
      { atMs: 1_250, merchants: ['c'] },
      { atMs: 2_000, merchants: ['late'] },
    ]);
  });

  it('has one moment for a merchant: the last that was planned', async () => {
    const { clock, plan, looks } = planning();
    plan.planIn('shop', 500);
    plan.planIn('shop', 1_000);
    await clock.advance(10_000);
    expect(looks).toEqual([{ atMs: 1_000, merchants: ['shop'] }]);
  });

  it('plans anew what is planned while it is told of what is due', async () => {
    const clock = new FakeClock();
    const looks: number[] = [];
    const plan: RecheckPlan = new RecheckPlan(clock, () => {
      looks.push(clock.monotonicMs());
      if (looks.length < 3) plan.planIn('shop', 500);
    });
    plan.planIn('shop', 500);
    await clock.advance(10_000);
    expect(looks).toEqual([500, 1_000, 1_500]);
  });

  it('comes to nobody who was forgotten, and to the others in their bucket', async () => {
    const { clock, plan, looks } = planning();
    plan.planIn('a', 500);
    plan.planIn('b', 500);
    plan.planIn('c', 750);
    plan.forget('a');
    plan.forget('c');
    plan.forget('unknown');
    await clock.advance(10_000);
    expect(looks).toEqual([{ atMs: 500, merchants: ['b'] }]);
    expect(clock.pendingTasks).toBe(0);
  });

  it('comes at once to what is overdue, also after a process was frozen', async () => {
    const { clock, plan, looks } = planning();
    await clock.advance(1_000);
    plan.planIn('past', -5_000);
    await clock.advance(0);
    expect(looks).toEqual([{ atMs: 1_000, merchants: ['past'] }]);
    plan.planIn('a', 500);
    plan.planIn('b', 1_500);
    clock.freeze(60_000);
    await clock.advance(0);
    expect(looks.slice(1)).toEqual([{ atMs: 61_000, merchants: ['a', 'b'] }]);
  });

  it('ends when it is closed, and takes nothing more', async () => {
    const { clock, plan, looks } = planning();
    plan.planIn('shop', 500);
    plan.close();
    expect(plan.has('shop')).toBe(false);
    plan.planIn('shop', 500);
    expect(plan.has('shop')).toBe(false);
    expect(clock.pendingTasks).toBe(0);
    await clock.advance(10_000);
    expect(looks).toEqual([]);
  });

  it('sets its timer anew only for an earlier moment, and none is needed to close it', () => {
    const { clock, plan } = planning();
    const schedule = jest.spyOn(clock, 'schedule');
    for (const delayMs of [2_000, 1_990, 3_000, 1_000]) plan.planIn(`in-${delayMs}`, delayMs);
    expect(schedule.mock.calls.map(([delayMs]) => delayMs)).toEqual([2_000, 1_000]);
    planning().plan.close();
  });

  it('comes to the end of a moment by a clock whose fractions fall short of it', async () => {
    const clock = new ShortClock();
    const looks: (readonly string[])[] = [];
    const plan = new RecheckPlan(clock, (merchants) => looks.push(merchants));
    plan.planIn('shop', 1_000);
    await clock.advance(1_000);
    expect(looks).toEqual([['shop']]);
  });
});
