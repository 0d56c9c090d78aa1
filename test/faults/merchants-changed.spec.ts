import { Cluster, neverAborted } from './cluster.js';

const HOUR = 3_600_000;

function change(cluster: Cluster, merchants: readonly string[]): Promise<unknown> {
  const before = cluster.merchants;
  const added = merchants.filter((merchant) => !before.includes(merchant));
  const removed = before.filter((merchant) => !merchants.includes(merchant));
  cluster.merchants = merchants;
  return Promise.all(cluster.replicas.map(({ replica }) => replica.merchantsChanged({ added, removed, changed: [] })));
}

const generations = (cluster: Cluster, merchant: string): (number | undefined)[] =>
  cluster.served(merchant).map((served) => served?.session.generation);

describe('other merchants in the configuration', () => {
  it('cost one create call for each that is new, and none for those that stay', async () => {
    const cluster = new Cluster({ replicas: 3, merchants: ['shop', 'tickets'] });
    await cluster.clock.advance(1_000);
    const before = generations(cluster, 'shop');
    void change(cluster, ['shop', 'tickets', 'kiosk']);
    await cluster.clock.advance(1_000);
    expect(cluster.gateway.calls.map(({ merchant }) => merchant).sort()).toEqual(['kiosk', 'shop', 'tickets']);
    expect(generations(cluster, 'kiosk')).toEqual([expect.any(Number), expect.any(Number), expect.any(Number)]);
    expect(generations(cluster, 'shop')).toEqual(before);
  });

  it('leave nothing of a removed one: no session, no renewal, however long', async () => {
    const cluster = new Cluster({ replicas: 2, merchants: ['shop', 'tickets'] });
    await cluster.clock.advance(1_000);
    void change(cluster, ['shop']);
    await cluster.clock.advance(HOUR);
    expect(generations(cluster, 'tickets')).toEqual([undefined, undefined]);
    expect(cluster.gateway.calls.filter(({ merchant }) => merchant === 'tickets')).toHaveLength(1);
    expect(cluster.gateway.calls.filter(({ merchant }) => merchant === 'shop').length).toBeGreaterThan(4);
    for (const { events } of cluster.replicas) expect(events.of('broken')).toEqual([]);
  });

  it('bring a removed one back with the session that it had, and without a create call', async () => {
    const cluster = new Cluster({ replicas: 2, merchants: ['shop', 'tickets'] });
    await cluster.clock.advance(1_000);
    const before = generations(cluster, 'tickets');
    void change(cluster, ['shop']);
    await cluster.clock.advance(60_000);
    void change(cluster, ['shop', 'tickets']);
    await cluster.clock.advance(1_000);
    expect(generations(cluster, 'tickets')).toEqual(before);
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('take nothing over from an attempt under way for one that was removed', async () => {
    const cluster = new Cluster({ merchants: ['shop', 'tickets'], latencyMs: 2_000 });
    await cluster.clock.advance(1_000);
    expect(cluster.first.replica.isRenewing('tickets')).toBe(true);
    void change(cluster, ['shop']);
    await cluster.clock.advance(10_000);
    expect(generations(cluster, 'tickets')).toEqual([undefined]);
    expect(cluster.first.replica.held.get('tickets')).toBeUndefined();
    expect(generations(cluster, 'shop')).toEqual([expect.any(Number)]);
  });

  it('refuse a wish for a removed one without a call', async () => {
    const cluster = new Cluster({ merchants: ['shop', 'tickets'] });
    await cluster.clock.advance(1_000);
    void change(cluster, ['shop']);
    await cluster.clock.advance(1_000);
    const wish = {
      merchant: 'tickets',
      minRemainingMs: 0,
      waitMs: 1_000,
      waitsThroughFailure: false,
      signal: neverAborted,
    };
    const refused = expect(cluster.first.replica.reader.read(wish)).rejects.toMatchObject({
      code: 'session_unavailable',
      reason: 'no_session',
    });
    await cluster.clock.advance(2_000);
    await refused;
    expect(cluster.gateway.calls).toHaveLength(2);
  });

  it('that are new in an outage of the store are enrolled once it is over', async () => {
    const cluster = new Cluster({ settings: { onStoreOutage: 'fail' } });
    await cluster.clock.advance(1_000);
    cluster.stores.forEach((store) => (store.down = true));
    void change(cluster, ['shop', 'kiosk']);
    await cluster.clock.advance(5_000);
    expect(generations(cluster, 'kiosk')).toEqual([undefined]);
    cluster.stores.forEach((store) => (store.down = false));
    await cluster.clock.advance(5_000);
    expect(generations(cluster, 'kiosk')).toEqual([expect.any(Number)]);
    expect(cluster.gateway.calls).toHaveLength(2);
  });
});
