import { describeWith, endedAfterEach, eventually, TcpProxy } from '#libs/testing';
import { type Replica, TOKEN, WatchedReplicas } from '../observability/watched-replicas.js';

/**
 * The grace period for renewals, and the most that closing takes: less than the 25 s that the manifests leave after
 * preStop.
 */
const MAX_STOP_MS = 10_000 + 10_000;
const SESSION = { id: 'shop', lifetimeMs: 600_000, timeout: '60s', required: true };

describeWith('redis-server', 'a replica that is asked to end', () => {
  let watched: WatchedReplicas;

  const started = endedAfterEach();
  beforeEach(async () => {
    watched = started.add(await WatchedReplicas.start([SESSION], [], 0), (it) => it.stop());
  });

  /** Makes the gateway take the next create call without answering it. */
  async function holdNext(): Promise<() => Promise<unknown>> {
    const fault = { kind: 'hold', operation: 'authorize', times: 1 };
    const { id } = (await watched.control('POST', '/faults', fault)) as { id: string };
    return () => watched.control('POST', `/faults/${id}/release`);
  }

  const arrived = (calls: number): Promise<unknown> =>
    watched.control('GET', `/calls?operation=authorize&until=arrived&waitFor=${calls}`);

  async function read({ url }: Replica): Promise<number | undefined> {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const response = await fetch(`${url}/v1/merchants/shop/session`, { headers });
    return response.ok ? ((await response.json()) as { generation: number }).generation : undefined;
  }

  const isReady = async ({ management }: Replica): Promise<boolean> => (await fetch(`http://${management}/readyz`)).ok;

  it('while it waits for its store at the start creates no session once that answers, and ends with code 0', async () => {
    const network = await TcpProxy.to(watched.redis.port);
    network.passage = 'cut';
    const { process } = await watched.launch({ redisUrl: `redis://127.0.0.1:${network.address.port}/0` });
    await eventually(() => network.connections > 0);
    process.signal('SIGTERM');
    network.passage = 'open';
    expect(await process.ended).toBe(0);
    await network.close();
    expect(process.err).toBe('');
    expect(process.out).toContain('"msg":"broker stopped"');
    expect(await watched.createCalls()).toBe(0);
  });

  it('before it was ever ready publishes what its first call brings, and costs its successor no call', async () => {
    const release = await holdNext();
    const replica = await watched.launch();
    await arrived(1);
    expect(await isReady(replica)).toBe(false);
    replica.process.signal('SIGTERM');
    await replica.process.said(/"msg":"broker stopping"/);
    await release();
    expect(await replica.process.ended).toBe(0);
    const successor = await watched.add();
    expect(await read(successor)).toBeGreaterThan(0);
    expect(await watched.createCalls()).toBe(1);
  });

  it('whose renewal outlasts the grace period ends all the same, frees its lease, and leaves no gap', async () => {
    const replica = await watched.add();
    const other = await watched.add();
    const before = await read(replica);
    const release = await holdNext();
    const rejected = watched.reject('shop', before ?? 0);
    await arrived(2);
    const askedAtMs = performance.now();
    replica.process.signal('SIGTERM');
    let ended = false;
    void replica.process.ended.then(() => (ended = true));
    // The other replica serves it all the while, and so does the one that is ending for as long as it listens.
    while (!ended) expect(await read(other)).toBe(before);
    const tookMs = performance.now() - askedAtMs;
    expect(await replica.process.ended).toBe(0);
    // Those waiting for the renewal were answered at once, so that they could turn to the other replica.
    expect(await rejected).toBe(503);
    expect(tookMs).toBeLessThan(MAX_STOP_MS);
    await release();
    // The lease of the lost call has 55 s left: nobody waits for it.
    await eventually(async () => ((await read(other)) ?? 0) > (before ?? 0));
    expect(await watched.createCalls()).toBe(3);
  });

  it('twice ends at once, with code 1, and leaves its lease to run out', async () => {
    await holdNext();
    const { process } = await watched.launch();
    await arrived(1);
    process.signal('SIGTERM');
    await process.said(/"msg":"broker stopping"/);
    const askedAtMs = performance.now();
    process.signal('SIGTERM');
    expect(await process.ended).toBe(1);
    // Well before the grace for the renewal that is held would be over.
    expect(performance.now() - askedAtMs).toBeLessThan(5_000);
    expect(watched.redis.cli('HEXISTS', 'session-broker:{0}:merchant:shop', 'owner')).toContain('1');
  });
});
