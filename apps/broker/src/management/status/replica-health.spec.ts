import { FakeClock } from '#libs/testing';
import { EventLoopLag } from './event-loop-lag.js';
import { StoreHealth } from './store-health.js';

describe('the health of the store', () => {
  it('is not known until it has answered or failed, and then since when', async () => {
    const clock = new FakeClock();
    const health = new StoreHealth('redis', clock);
    expect(health.describe()).toEqual({ type: 'redis' });
    health.setUp(true);
    const since = clock.now();
    await clock.advance(1_000);
    health.setUp(true);
    expect(health.describe()).toEqual({ type: 'redis', up: true, since });
    health.setUp(false);
    expect(health.describe()).toEqual({ type: 'redis', up: false, since: since + 1_000 });
  });

  it('names the operation that failed until one succeeds, and nothing that the store said', () => {
    const clock = new FakeClock();
    const health = new StoreHealth('redis', clock);
    health.setUp(true);
    health.emit({ event: 'store_failed', operation: 'claim', error: new Error('secret') });
    expect(health.describe()).toMatchObject({ up: true, failing: { operation: 'claim', at: clock.now() } });
    expect(JSON.stringify(health.describe())).not.toContain('secret');
    health.emit({ event: 'store_recovered' });
    expect(health.describe()).not.toHaveProperty('failing');
  });
});

describe('the lag of the event loop', () => {
  it('is how late timers come: the last one, and the worst of a minute', async () => {
    const clock = new FakeClock();
    const lag = new EventLoopLag(clock);
    lag.start();
    await clock.advance(2_000);
    expect([lag.latestMs, lag.worstMs]).toEqual([0, 0]);
    clock.freeze(800);
    await clock.advance(0);
    expect([lag.latestMs, lag.worstMs]).toEqual([300, 300]);
    await clock.advance(30_000);
    expect([lag.latestMs, lag.worstMs]).toEqual([0, 300]);
    await clock.advance(31_000);
    expect(lag.worstMs).toBe(0);
    lag.close();
    expect(clock.pendingTasks).toBe(0);
  });
});
