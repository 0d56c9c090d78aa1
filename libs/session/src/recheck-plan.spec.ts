import type { Clock, ScheduledTask } from '#libs/clock';
import { FakeClock } from '#libs/testing';
import { RecheckPlan } from './recheck-plan.js';

/** Reads a hair less than the moment for which a task was scheduled, as sums of fractions do. */
class ShortClock extends FakeClock implements Clock {
  override monotonicMs(): number {
    return super.monotonicMs() - 1e-9;
  }

  override schedule(delayMs: number, task: () => void): ScheduledTask {
    return super.schedule(delayMs - 1e-9, task);
  }
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
});
