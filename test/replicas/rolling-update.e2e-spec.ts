import { SessionBroker } from '#libs/client';
import { describeWith } from '#libs/testing';
import { payInLoop } from '../bench/payment-loop.js';
import { TOKEN, WatchedReplicas } from '../observability/watched-replicas.js';
import { RoundRobin } from './round-robin.js';

const REPLICAS = 3;
const LIFETIME_MS = 12_000;

describeWith('redis-server', 'a rolling update of three replicas, under load', () => {
  it('fails no payment, shows no consumer an older session, and costs no create call', async () => {
    const merchant = { id: 'shop', lifetimeMs: LIFETIME_MS, supersedes: true, budget: 100 };
    const watched = await WatchedReplicas.start([merchant], [], REPLICAS);
    const balancer = await RoundRobin.start(watched.replicas.map(({ url }) => url));
    const generations: number[] = [];
    const watcher = new SessionBroker({
      url: balancer.url,
      merchant: 'shop',
      auth: TOKEN,
      onEvent: (event) => void (event.type === 'session' && generations.push(event.generation)),
    });
    await watcher.session();
    // Sessions from before anyone was watching do not count, nor do their calls.
    const before = await watched.createCalls();
    const { url: brokerUrl } = balancer;
    const { sandboxUrl } = watched;
    const paying = payInLoop({ brokerUrl, sandboxUrl, token: TOKEN, operations: 400, everyMs: 40 });
    for (const old of watched.replicas.slice(0, REPLICAS)) {
      const successor = await watched.add();
      balancer.replace(old.url, successor.url);
      old.process.signal('SIGTERM');
      expect(await old.process.ended).toBe(0);
    }
    const report = await paying;
    const { generation } = await watcher.session();
    await watcher.close();
    const calls = (await watched.createCalls()) - before;
    await watched.stop();
    balancer.close();
    expect(report.failed).toEqual([]);
    expect(generations).toEqual([...generations].sort((a, b) => a - b));
    expect(generations.at(-1)).toBe(generation);
    // One for each session seen after the first, and perhaps the one that was being created at the end.
    expect(calls).toBeLessThanOrEqual(Math.max(report.generations, generations.length));
  });
});
