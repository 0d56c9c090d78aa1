import { describeWith, endedAfterEach, eventually } from '#libs/testing';
import { type Replica, servedBy, WatchedReplicas } from '../observability/watched-replicas.js';

const SESSION = { id: 'shop', lifetimeMs: 600_000, timeout: '60s', required: true };

describeWith('redis-server', 'a replica that is asked to end', () => {
  let watched: WatchedReplicas;

  const started = endedAfterEach();
  beforeEach(async () => {
    watched = started.add(await WatchedReplicas.start([SESSION], [], 0), (it) => it.stop());
  });

  const read = (replica: Replica): Promise<number | undefined> => servedBy(replica, 'shop');

  it('whose renewal outlasts the grace period ends all the same, frees its lease, and leaves no gap', async () => {
    const replica = await watched.add();
    const other = await watched.add();
    const before = await read(replica);
    const release = await watched.holdNextCreateCall();
    const rejected = watched.reject('shop', before ?? 0);
    await watched.createCallsArrived(2);
    replica.process.signal('SIGTERM');
    let ended = false;
    void replica.process.ended.then(() => (ended = true));
    // The other replica serves it all the while, and so does the one that is ending for as long as it listens.
    while (!ended) expect(await read(other)).toBe(before);
    expect(await replica.process.ended).toBe(0);
    // Those waiting for the renewal were answered at once, so that they could turn to the other replica.
    expect(await rejected).toBe(503);
    await release();
    // The lease of the lost call has 55 s left: nobody waits for it.
    await eventually(async () => ((await read(other)) ?? 0) > (before ?? 0));
    expect(await watched.createCalls()).toBe(3);
  });
});
