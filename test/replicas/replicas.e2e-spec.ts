import { SessionBroker } from '#libs/client';
import { describeWith, endedAfterEach, eventually, TcpProxy } from '#libs/testing';
import { type Replica, servedBy, TOKEN, WatchedReplicas } from '../observability/watched-replicas.js';
import { payInLoop } from './payment-loop.js';
import { RoundRobin } from './round-robin.js';

/** No renewal falls due by itself while a test runs, and no create call is given up. */
const SHOP = { id: 'shop', lifetimeMs: 3_600_000, timeout: '60s', required: true, supersedes: true };

describeWith('redis-server', 'replicas as processes', () => {
  let watched: WatchedReplicas;
  const started = endedAfterEach();
  beforeEach(async () => {
    watched = started.add(await WatchedReplicas.start([SHOP], [], 0), (it) => it.stop());
  });

  const read = (replica: Replica): Promise<number | undefined> => servedBy(replica, 'shop');
  const isReady = async ({ management }: Replica): Promise<boolean> => (await fetch(`http://${management}/readyz`)).ok;

  it('that start at once make one create call, and serve the same session', async () => {
    const all = await Promise.all([1, 2, 3].map(() => watched.add()));
    expect(new Set(await Promise.all(all.map(read))).size).toBe(1);
    expect(await watched.createCalls()).toBe(1);
  });

  it('are replaced one by one under load: no payment fails, no consumer sees an older session, and one that dies costs one create call', async () => {
    const olds = [await watched.add(), await watched.add(), await watched.add()];
    const balancer = started.add(await RoundRobin.start(olds.map(({ url }) => url)), (it) => it.close());
    const seen: number[] = [];
    const onEvent: NonNullable<ConstructorParameters<typeof SessionBroker>[0]['onEvent']> = (event) =>
      void (event.type === 'session' && seen.push(event.generation));
    const settings = { url: balancer.url, merchant: 'shop', auth: TOKEN, onEvent };
    const watcher = started.add(new SessionBroker(settings), (it) => it.close());
    const { generation: first } = await watcher.session();
    const over = new AbortController();
    const places = { brokerUrl: balancer.url, sandboxUrl: watched.sandboxUrl };
    const paying = payInLoop({ ...places, token: TOKEN, until: over.signal });
    for (const [index, old] of olds.entries()) {
      const successor = await watched.add();
      balancer.replace(old.url, successor.url);
      old.process.signal('SIGTERM');
      expect(await old.process.ended).toBe(0);
      // The only create call is for the one session that dies meanwhile.
      if (index === 0) await watched.control('DELETE', '/sessions?merchant=shop&msgCode=b_session_doesnt_exist');
    }
    await eventually(() => (seen.at(-1) ?? 0) > first);
    over.abort();
    expect(await paying).toEqual([]);
    expect(seen).toEqual([...seen].sort((one, other) => one - other));
    expect(await watched.createCalls()).toBe(2);
  });

  it('asked to end while they wait for the store at the start create no session once that answers, and end with code 0', async () => {
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

  it('asked to end before they were ever ready publish what the first call brings, and cost no further call', async () => {
    const release = await watched.holdNextCreateCall();
    const replica = await watched.launch();
    await watched.createCallsArrived(1);
    expect(await isReady(replica)).toBe(false);
    replica.process.signal('SIGTERM');
    await replica.process.said(/"msg":"broker stopping"/);
    await release();
    expect(await replica.process.ended).toBe(0);
    const successor = await watched.add();
    expect(await read(successor)).toBeGreaterThan(0);
    expect(await watched.createCalls()).toBe(1);
  });

  it('asked twice end at once, with code 1, and leave the lease to run out', async () => {
    await watched.holdNextCreateCall();
    const { process } = await watched.launch();
    await watched.createCallsArrived(1);
    process.signal('SIGTERM');
    await process.said(/"msg":"broker stopping"/);
    process.signal('SIGTERM');
    expect(await process.ended).toBe(1);
    // An end in order would have had code 0.
    expect(watched.redis.cli('HEXISTS', 'session-broker:{0}:merchant:shop', 'owner')).toContain('1');
  });
});
