import { toldStore } from '#libs/causes';
import { FakeClock } from '#libs/testing';
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
    health.emit({ event: 'store_failed', operation: 'report', error: new Error('secret') });
    expect(health.describe()).toMatchObject({
      failing: { work: 'writing down a reported dead session', at: clock.now() },
    });
    expect(JSON.stringify(health.describe())).not.toContain('secret');
    const answers = { type: 'redis', condition: 'answers' } as const;
    connection = answers;
    expect(health.describe().failing).toBeDefined();
    for (const condition of ['refuses', 'silent'] as const) {
      connection = { type: 'redis', condition, reason: 'READONLY' };
      expect(health.describe().failing).toBeUndefined();
    }
    connection = answers;
    health.emit({ event: 'store_recovered' });
    expect(health.describe().failing).toBeUndefined();
  });
});
