import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWith, eventually } from '#libs/testing';
import { type Replica, servedBy, TOKEN, WatchedReplicas } from '../observability/watched-replicas.js';

/** The kubelet's default timeout for a probe. */
const PROBE_TIMEOUT_MS = 1_000;
const LIFETIME_MS = 12_000;

/** On SIGUSR2, does nothing else until a file exists. */
const blockingUntil = (file: string): string => `
  import { existsSync, writeSync } from 'node:fs';
  process.on('SIGUSR2', () => {
    writeSync(1, 'event loop blocked\\n');
    while (!existsSync(${JSON.stringify(file)}));
  });`;

interface Sample {
  readonly beganAt: number;
  readonly endedAt: number;
  readonly live: number;
  readonly ready: number;
  readonly missing: readonly string[];
  readonly read: number;
}

describeWith('redis-server', 'the health of a replica', () => {
  let watched: WatchedReplicas;
  let folder: string | undefined;

  afterEach(async () => {
    await watched.stop();
    if (folder !== undefined) await rm(folder, { recursive: true });
    folder = undefined;
  });

  const probe = ({ management }: Replica, path: string): Promise<Response> =>
    fetch(`http://${management}${path}`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });

  const read = ({ url }: Replica): Promise<Response> =>
    fetch(`${url}/v1/merchants/shop/session`, { headers: { authorization: `Bearer ${TOKEN}` } });

  async function sample(replica: Replica): Promise<Sample> {
    const beganAt = Date.now();
    const [live, ready, session] = [
      await probe(replica, '/livez'),
      await probe(replica, '/readyz'),
      await read(replica),
    ];
    const { missing } = (await ready.json()) as { missing: string[] };
    return { beganAt, endedAt: Date.now(), live: live.status, ready: ready.status, missing, read: session.status };
  }

  it('without store and gateway is good for as long as its session lasts, and then it is alive', async () => {
    watched = await WatchedReplicas.start([{ id: 'shop', lifetimeMs: LIFETIME_MS, required: true }], [], 0);
    const replica = await watched.add();
    const { expiresAt } = (await (await read(replica)).json()) as { expiresAt: string };
    const ends = Date.parse(expiresAt);
    await watched.redis.kill();
    await watched.endGateway();
    const samples: Sample[] = [];
    await eventually(async () => {
      samples.push(await sample(replica));
      return samples.filter(({ beganAt }) => beganAt > ends).length >= 5;
    });
    const shown = ({ live, ready, missing, read: status }: Sample): object => ({ live, ready, missing, read: status });
    const during = samples.filter(({ endedAt }) => endedAt < ends).map(shown);
    const after = samples.filter(({ beganAt }) => beganAt > ends).map(shown);
    expect(during.length).toBeGreaterThan(20);
    expect(new Set(during.map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify({ live: 200, ready: 200, missing: [], read: 200 })]),
    );
    for (const one of after) expect(one).toEqual({ live: 200, ready: 503, missing: ['shop'], read: 503 });
  });

  it('whose event loop is blocked shows in its liveness, and it publishes nothing that comes of it', async () => {
    watched = await WatchedReplicas.start([{ id: 'shop', lifetimeMs: 600_000, required: true, timeout: '5s' }], [], 0);
    const release = await watched.holdNextCreateCall();
    folder = await mkdtemp(join(tmpdir(), 'blocked-replica-'));
    const end = join(folder, 'end');
    const environment = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(blockingUntil(end))}` };
    const blocked = await watched.launch({ environment });
    await watched.createCallsArrived(1);
    blocked.process.signal('SIGUSR2');
    await blocked.process.said(/event loop blocked/);
    // The answer arrives before the deadline, but nothing looks at it.
    await release();
    await expect(probe(blocked, '/livez')).rejects.toMatchObject({ name: 'TimeoutError' });
    // It creates the session once the blocked replica's lease has ended.
    const other = await watched.add();
    const generation = await servedBy(other, 'shop');
    expect(generation).toBeGreaterThan(0);
    await writeFile(end, '');
    await eventually(async () => (await servedBy(blocked, 'shop')) === generation);
    expect((await probe(blocked, '/livez')).status).toBe(200);
    expect(await servedBy(other, 'shop')).toBe(generation);
    expect(blocked.process.out).not.toContain('"outcome":"success"');
    expect(await watched.createCalls()).toBe(2);
  });
});
