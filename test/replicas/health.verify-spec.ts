import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWith, eventually } from '#libs/testing';
import { type Replica, servedBy, WatchedReplicas } from '../observability/watched-replicas.js';

/** The kubelet's default timeout for a probe. */
const PROBE_TIMEOUT_MS = 1_000;

/** On SIGUSR2, does nothing else until a file exists. */
const blockingUntil = (file: string): string => `
  import { existsSync, writeSync } from 'node:fs';
  process.on('SIGUSR2', () => {
    writeSync(1, 'event loop blocked\\n');
    while (!existsSync(${JSON.stringify(file)}));
  });`;

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
