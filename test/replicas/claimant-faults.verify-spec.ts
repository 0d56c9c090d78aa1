import { describeWith, endedAfterEach, eventually } from '#libs/testing';
import { type Replica, servedBy, WatchedReplicas } from '../observability/watched-replicas.js';

const SHOP = { id: 'shop', lifetimeMs: 3_600_000, timeout: '5s' };

describeWith('redis-server', 'a replica that is lost while it creates a session', () => {
  let watched: WatchedReplicas;

  const started = endedAfterEach();
  beforeEach(async () => {
    watched = started.add(await WatchedReplicas.start([SHOP], [], 0), (it) => it.stop());
  });

  const read = (replica: Replica, prefer = ''): Promise<number | undefined> => servedBy(replica, 'shop', prefer);

  /** Starts a replica whose create call the gateway holds until it is released. */
  async function startStalled(): Promise<{ claimant: Replica; release: () => Promise<unknown> }> {
    const release = await watched.holdNextCreateCall();
    const claimant = await watched.launch();
    await watched.createCallsArrived(1);
    return { claimant, release };
  }

  it('by SIGKILL is followed by another after its lease, at the cost of one call', async () => {
    const { claimant } = await startStalled();
    claimant.process.signal('SIGKILL');
    const follower = await watched.add();
    expect(await read(follower, 'wait=20')).toBeGreaterThan(0);
    expect(await watched.createCalls()).toBe(2);
  });

  it('by SIGSTOP beyond its lease publishes nothing when it goes on, and takes over what another has published', async () => {
    const { claimant, release } = await startStalled();
    await claimant.process.said(/"msg":"broker started"/);
    claimant.process.signal('SIGSTOP');
    await release();
    const follower = await watched.add();
    const generation = await read(follower, 'wait=20');
    expect(generation).toBeGreaterThan(0);
    claimant.process.signal('SIGCONT');
    await eventually(async () => (await read(claimant)) === generation);
    expect(await read(follower)).toBe(generation);
    expect(await watched.createCalls()).toBe(2);
    expect(claimant.process.out).not.toContain('"outcome":"success"');
  });

  it('or by neither, costs no second call: six processes that start at once make one', async () => {
    const all = await Promise.all(Array.from({ length: 6 }, () => watched.add()));
    const generations = await Promise.all(all.map((replica) => read(replica, 'wait=10')));
    expect(new Set(generations).size).toBe(1);
    expect(await watched.createCalls()).toBe(1);
  });
});
