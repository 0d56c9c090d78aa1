import type { Cause } from '#libs/session';
import { Cluster, neverAborted } from './cluster.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Sessions of a quarter of an hour are renewed after twelve minutes: the third call of the hour is refused. */
const settings = { budget: [{ calls: 2, perMs: HOUR }] };
const DUE_MS = 23 * MINUTE;
const START = new Cluster().now();
const SPENT = {
  code: 'budget_exhausted',
  spent: { window: { calls: 2, perMs: HOUR }, freeAt: expect.any(Number) },
};

function causeAt(cluster: Cluster, index: number): Cause | undefined {
  return cluster.at(index).replica.causeFor('shop');
}

async function wished(cluster: Cluster, index = 0): Promise<unknown> {
  const wish = { merchant: 'shop', waitMs: SECOND, signal: neverAborted };
  const answer = cluster
    .at(index)
    .replica.wishes.renew(wish)
    .catch((error: unknown) => error);
  await cluster.clock.advance(2 * SECOND);
  return answer;
}

describe('a renewal that is due while the create-call budget is spent', () => {
  it('is told with what is spent and the next attempt, at every replica', async () => {
    const cluster = new Cluster({ replicas: 2, settings });
    await cluster.clock.advance(DUE_MS + MINUTE);
    for (const [index, { replica }] of cluster.replicas.entries()) {
      expect(replica.conditionOf('shop')).toBe('failing');
      expect(causeAt(cluster, index)).toEqual({ ...SPENT, effect: 'not_renewed' });
      expect(replica.retryInMs('shop')).toBeGreaterThan(35 * MINUTE);
    }
  });

  it('is told before it is due, as soon as no call is free before the session ends', async () => {
    const cluster = new Cluster({ settings });
    await cluster.clock.advance(MINUTE);
    await wished(cluster);
    const { replica } = cluster.first;
    await cluster.clock.advance(MINUTE);
    expect(replica.conditionOf('shop')).toBe('failing');
    expect(causeAt(cluster, 0)).toEqual({ ...SPENT, effect: 'not_renewed' });
    expect(replica.retryInMs('shop')).toBeGreaterThan(57 * MINUTE);
  });

  it('names that moment to who reads when the session has ended, too', async () => {
    const cluster = new Cluster({ settings });
    await cluster.clock.advance(30 * MINUTE);
    const wish = { merchant: 'shop', minRemainingMs: 0, waitMs: SECOND, waitsThroughFailure: false };
    const read = cluster.first.replica.wishes.read({ ...wish, signal: neverAborted });
    const answer = read.catch((error: unknown) => error);
    await cluster.clock.advance(2 * SECOND);
    expect(await answer).toMatchObject({
      reason: 'budget_exhausted',
      because: { ...SPENT, effect: 'payments_fail' },
      retryAfterMs: expect.any(Number),
    });
  });
});

describe('a renewal that a person wants while the create-call budget is spent', () => {
  it.each([1, 2])(
    'is refused with what is spent and when the next call is free, with %d replicas',
    async (replicas) => {
      const cluster = new Cluster({ replicas, lifetimeMs: 2 * HOUR, settings });
      await cluster.clock.advance(MINUTE);
      await wished(cluster);
      await cluster.clock.advance(MINUTE);
      const refused = await wished(cluster);
      expect(refused).toMatchObject({
        reason: 'budget_exhausted',
        because: { ...SPENT, effect: 'no_call' },
      });
      expect(cluster.first.replica.conditionOf('shop')).toBe('fresh');
      const { retryAfterMs = 0 } = refused as { readonly retryAfterMs?: number };
      expect(cluster.now() - 2 * SECOND + retryAfterMs).toBeLessThanOrEqual(START + HOUR);
      expect(retryAfterMs).toBeGreaterThan(57 * MINUTE);
    },
  );
});
