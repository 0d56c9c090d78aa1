import type { Cause } from '#libs/session';
import { Cluster, neverAborted } from './cluster.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Sessions of a quarter of an hour are renewed after twelve minutes: the third call of the hour is refused. */
const settings = { budget: [{ calls: 2, perMs: HOUR }] };
const DUE_MS = 23 * MINUTE;
const REFUSED = { kind: 'refused', detail: 'no such merchant', msgCode: 'b_merchant_not_found' } as const;
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

/** The first call was made at the start. */
async function spentByWishes(cluster: Cluster): Promise<void> {
  await cluster.clock.advance(MINUTE);
  await wished(cluster);
  await cluster.clock.advance(MINUTE);
  expect(cluster.gateway.calls).toHaveLength(2);
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

  it('is not told of while the call is under way that spends the budget', async () => {
    const cluster = new Cluster({ settings, latencyMs: 2 * SECOND });
    const { replica } = cluster.first;
    await cluster.clock.advance(10 * MINUTE);
    while (!replica.isRenewing('shop') && cluster.gateway.calls.length < 2) await cluster.clock.advance(SECOND / 2);
    expect([cluster.gateway.calls.length, replica.conditionOf('shop')]).toEqual([2, 'fresh']);
    await cluster.clock.advance(3 * SECOND);
    expect(replica.conditionOf('shop')).toBe('failing');
  });

  it('is a merchant that is well with the call that is free again', async () => {
    const cluster = new Cluster({ settings });
    await cluster.clock.advance(DUE_MS + MINUTE);
    await cluster.clock.advance(HOUR - DUE_MS);
    expect(cluster.first.replica.conditionOf('shop')).toBe('fresh');
    expect(causeAt(cluster, 0)).toBeUndefined();
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
      const { replica } = cluster.first;
      expect(replica.conditionOf('shop')).toBe('fresh');
      const retryInMs = replica.retryInMs('shop') ?? 0;
      expect(refused).toMatchObject({ retryAfterMs: retryInMs + 2 * SECOND });
      expect(cluster.now() + retryInMs).toBeLessThanOrEqual(START + HOUR);
      expect(retryInMs).toBeGreaterThan(57 * MINUTE);
    },
  );

  it('is made once, by the replica that was asked, when a call is free', async () => {
    const cluster = new Cluster({ replicas: 2, lifetimeMs: 12 * HOUR, settings });
    await spentByWishes(cluster);
    const { generation } = cluster.session();
    await wished(cluster);
    await cluster.clock.advance(57 * MINUTE);
    expect([cluster.gateway.calls.length, cluster.session().generation]).toEqual([2, generation]);
    await cluster.clock.advance(2 * MINUTE);
    expect(cluster.gateway.calls).toHaveLength(3);
    expect(cluster.served().map((served) => served?.session.generation)).toEqual([
      cluster.session().generation,
      cluster.session().generation,
    ]);
    expect(cluster.session().generation).toBeGreaterThan(generation);
    expect(cluster.first.events.of('renewal_finished').at(-1)?.trigger).toBe('operator');
    await cluster.clock.advance(2 * HOUR);
    expect(cluster.gateway.calls).toHaveLength(3);
    expect(cluster.first.replica.retryInMs('shop')).toBeUndefined();
  });

  it('is made while the back-off runs that it was to end', async () => {
    const cluster = new Cluster({ lifetimeMs: 12 * HOUR, settings: { budget: [{ calls: 2, perMs: 3 * MINUTE }] } });
    await cluster.clock.advance(MINUTE);
    cluster.gateway.answerAlways(REFUSED);
    await wished(cluster);
    await wished(cluster);
    cluster.gateway.answerAlways(undefined);
    expect([cluster.gateway.calls.length, cluster.first.replica.conditionOf('shop')]).toEqual([2, 'failing']);
    await cluster.clock.advance(2 * MINUTE);
    expect([cluster.gateway.calls.length, cluster.first.replica.conditionOf('shop')]).toEqual([3, 'fresh']);
  });

  it('is over when it has failed', async () => {
    const cluster = new Cluster({ lifetimeMs: 48 * HOUR, settings });
    await spentByWishes(cluster);
    await wished(cluster);
    cluster.gateway.answerAlways(REFUSED);
    const failed = (): number =>
      cluster.first.events
        .of('renewal_finished')
        .filter((one) => one.trigger === 'operator' && one.outcome === 'refused').length;
    await cluster.clock.advance(59 * MINUTE);
    expect([failed(), cluster.first.replica.wishes.keptForMs('shop')]).toEqual([1, undefined]);
    await cluster.clock.advance(3 * HOUR);
    expect(failed()).toBe(1);
  });

  it('is over with a session that another replica has made, with its merchant, and with the process', async () => {
    const ends = {
      newer: async (cluster: Cluster): Promise<unknown> => {
        cluster.settings = { ...cluster.settings, budget: [{ calls: 3, perMs: HOUR }] };
        return wished(cluster, 1);
      },
      removed: (cluster: Cluster): Promise<unknown> => {
        cluster.merchants = [];
        void cluster.first.replica.merchantsChanged({ added: [], removed: ['shop'], changed: [] });
        return cluster.clock.advance(SECOND);
      },
      stopped: async (cluster: Cluster): Promise<unknown> => cluster.first.stop(),
    };
    for (const [how, end] of Object.entries(ends)) {
      const cluster = new Cluster({ replicas: 2, lifetimeMs: 12 * HOUR, settings });
      await spentByWishes(cluster);
      await wished(cluster);
      expect(cluster.first.replica.wishes.keptForMs('shop')).toBeGreaterThan(0);
      await end(cluster);
      const calls = cluster.gateway.calls.length;
      expect([how, cluster.first.replica.wishes.keptForMs('shop')]).toEqual([how, undefined]);
      await cluster.clock.advance(2 * HOUR);
      expect([how, cluster.gateway.calls.length]).toEqual([how, calls]);
    }
  });
});
