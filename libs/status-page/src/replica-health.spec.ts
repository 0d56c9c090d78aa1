import { toldStore } from '#libs/causes';
import { FakeClock } from '#libs/testing';
import { EventLoopLag } from './event-loop-lag.js';
import type { StoreConnection } from './status-source.js';
import { StoreHealth } from './store-health.js';

describe('the health of the store', () => {
  it('is what its connection found out, with the reason where it does not answer', () => {
    const clock = new FakeClock();
    let connection: StoreConnection = { type: 'redis' };
    const health = new StoreHealth(() => connection, clock);
    const since = clock.now();
    expect(health.describe()).toEqual({ type: 'redis' });
    connection = { type: 'redis', condition: 'answers', since, reason: 'the store answers' };
    expect(health.describe()).toEqual({ type: 'redis', condition: 'answers', since });
    connection = { type: 'redis', condition: 'refuses', since, reason: 'NOPERM' };
    expect(health.describe()).toEqual({
      type: 'redis',
      condition: 'refuses',
      since,
      reason: 'NOPERM',
      cause: toldStore('refuses', 'NOPERM'),
    });
    connection = { type: 'redis', condition: 'silent', since, reason: 'ECONNREFUSED' };
    expect(health.describe()).toMatchObject({ reason: 'ECONNREFUSED', cause: { runbook: 'store-down' } });
  });

  it('says in words what failed until something succeeds, and nothing that the store said', () => {
    const clock = new FakeClock();
    let connection: StoreConnection = { type: 'redis' };
    const health = new StoreHealth(() => connection, clock);
    health.emit({ event: 'store_failed', operation: 'reportDead', error: new Error('secret') });
    expect(health.describe()).toMatchObject({
      failing: { work: 'writing down a reported dead session', at: clock.now() },
    });
    expect(JSON.stringify(health.describe())).not.toContain('secret');
    const answers = { type: 'redis', condition: 'answers' } as const;
    connection = answers;
    expect(health.describe()).toHaveProperty('failing');
    for (const condition of ['refuses', 'silent'] as const) {
      connection = { type: 'redis', condition, reason: 'READONLY' };
      expect(health.describe()).not.toHaveProperty('failing');
    }
    connection = answers;
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
