import { Cluster } from './cluster.js';

const MINUTE = 60_000;

describe('a replica that starts ten minutes into a session', () => {
  it('knows how old it is, serves it to its end, and not a moment longer', async () => {
    const cluster = new Cluster();
    await cluster.clock.advance(10 * MINUTE);
    const [first] = cluster.served();
    cluster.addReplica();
    await cluster.clock.advance(1_000);
    expect(cluster.served()[1]?.session).toEqual(first?.session);
    cluster.gateway.answerAlways({ kind: 'transient', detail: 'busy' });
    await cluster.clock.advance(5 * MINUTE - 3_000);
    expect(cluster.served()[1]?.session).toEqual(first?.session);
    await cluster.clock.advance(4_000);
    expect(cluster.served()).toEqual([undefined, undefined]);
  });
});
