import { describeWith, endedAfterEach, eventually, RedisProcess } from '#libs/testing';
import { type ReplicaProcess, ReplicaProcesses } from './replica-processes.js';

describeWith('redis-server', 'a replica that is lost while it creates a session', () => {
  let replicas: ReplicaProcesses;

  const started = endedAfterEach();
  beforeEach(async () => {
    const redis = started.add(await RedisProcess.start(), (it) => it.stop());
    replicas = started.add(await ReplicaProcesses.start({ redisUrl: redis.url, timeout: '5s' }), (it) => it.close());
  });

  /** Starts a replica whose create call the gateway holds until it is released. */
  async function startStalled(): Promise<{ claimant: ReplicaProcess; release: () => Promise<unknown> }> {
    const { arrived, release } = await replicas.holdCreateCall();
    const claimant = await replicas.add();
    await arrived();
    return { claimant, release };
  }

  it('by SIGKILL is followed by another after its lease, at the cost of one call', async () => {
    const { claimant } = await startStalled();
    claimant.process.signal('SIGKILL');
    const follower = await replicas.add();
    expect(await replicas.read(follower, { prefer: 'wait=20' })).toBeGreaterThan(0);
    expect(await replicas.createCalls()).toBe(2);
  });

  it('by SIGSTOP beyond its lease publishes nothing when it goes on, and takes over what another has published', async () => {
    const { claimant, release } = await startStalled();
    claimant.process.signal('SIGSTOP');
    await release();
    const follower = await replicas.add();
    const generation = await replicas.read(follower, { prefer: 'wait=20' });
    expect(generation).toBeGreaterThan(0);
    claimant.process.signal('SIGCONT');
    await eventually(async () => (await replicas.read(claimant)) === generation);
    expect(await replicas.read(follower)).toBe(generation);
    expect(await replicas.createCalls()).toBe(2);
    expect(claimant.process.out).not.toContain('"outcome":"success"');
  });

  it('or by neither, costs no second call: six processes that start at once make one', async () => {
    const started = await Promise.all(Array.from({ length: 6 }, () => replicas.add()));
    const generations = await Promise.all(started.map((replica) => replicas.read(replica, { prefer: 'wait=10' })));
    expect(new Set(generations).size).toBe(1);
    expect(await replicas.createCalls()).toBe(1);
  });
});
