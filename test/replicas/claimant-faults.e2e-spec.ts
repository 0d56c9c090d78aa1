import { hash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '#libs/clock';
import { generateClientKey } from '#libs/jwe';
import { createLogger } from '#libs/telemetry';
import { describeWith, endedAfterEach, eventually, freePort, RedisProcess } from '#libs/testing';
import { startSandbox } from '../../apps/sandbox/src/sandbox.js';
import { ProgramProcess } from '../e2e/program-process.js';
import { sandboxControl } from '../sandbox/sandbox-control.js';

const TOKEN = 'token-of-checkout';
const SERVICE_CODE = '137d9304-0368-11ed-b939-0242ac120002';

interface Replica {
  readonly process: ProgramProcess;
  readonly url: string;
}

describeWith('redis-server', 'a replica that is lost while it creates a session', () => {
  let folder: string;
  let redis: RedisProcess;
  let sandbox: { url: string; close(): Promise<void> };
  const replicas: Replica[] = [];

  const started = endedAfterEach();
  beforeEach(async () => {
    folder = started.add(await mkdtemp(join(tmpdir(), 'session-broker-')), (it) => rm(it, { recursive: true }));
    redis = started.add(await RedisProcess.start(), (it) => it.stop());
    const key = await generateClientKey();
    await writeFile(join(folder, 'shop.jwk.json'), JSON.stringify(key.privateJwk), { mode: 0o600 });
    sandbox = started.add(
      await startSandbox({
        host: '127.0.0.1',
        port: 0,
        clock: new SystemClock(),
        logger: createLogger({ name: 'sandbox', level: 'error' }),
        merchants: [{ id: 'shop', serviceCode: SERVICE_CODE, publicJwk: key.publicJwk, lifetimeMs: 60_000 }],
      }),
      (it) => it.close(),
    );
    started.add(replicas, endAll);
  });
  async function endAll(): Promise<void> {
    for (const { process } of replicas.splice(0)) {
      process.signal('SIGKILL');
      await process.ended;
    }
  }

  function control(method: string, path: string, body?: object): Promise<unknown> {
    return sandboxControl(sandbox.url, { method, path, body });
  }

  async function createCalls(): Promise<number> {
    return ((await control('GET', '/calls?operation=authorize&until=arrived')) as { matching: number }).matching;
  }

  async function start(): Promise<Replica> {
    const port = await freePort();
    const file = join(folder, `broker-${port}.yaml`);
    await writeFile(
      file,
      `
http: { host: 127.0.0.1, port: ${port} }
management: { host: 127.0.0.1, port: ${await freePort()} }
store: { type: redis, url: '${redis.url}' }
auth:
  tokens: [{ caller: checkout, sha256: ${hash('sha256', TOKEN)} }]
  policies: [{ caller: checkout, merchants: [shop], allow: [session:read] }]
log: { level: debug }
merchants:
  - id: shop
    serviceCode: ${SERVICE_CODE}
    clientKeyFiles: [shop.jwk.json]
    gateway: { baseUrl: '${sandbox.url}', environment: test, timeout: 1s }
`,
    );
    const process = new ProgramProcess('broker', { environment: { BROKER_CONFIG: file } });
    const replica = { process, url: `http://127.0.0.1:${port}` };
    replicas.push(replica);
    await process.said(/"msg":"broker started"/);
    return replica;
  }

  async function read({ url }: Replica, headers: Record<string, string> = {}): Promise<number | undefined> {
    const response = await fetch(`${url}/v1/merchants/shop/session`, {
      headers: { authorization: `Bearer ${TOKEN}`, ...headers },
    });
    return response.ok ? ((await response.json()) as { generation: number }).generation : undefined;
  }

  /** Starts a replica whose create call the gateway holds until it is told to go on. */
  async function startStalled(): Promise<{ claimant: Replica; release: () => Promise<unknown> }> {
    const { id } = (await control('POST', '/faults', { kind: 'hold', operation: 'authorize', times: 1 })) as {
      id: string;
    };
    const claimant = await start();
    await control('GET', '/calls?operation=authorize&until=arrived&waitFor=1');
    return { claimant, release: () => control('POST', `/faults/${id}/release`) };
  }

  it('by SIGKILL is followed by another after its lease, at the cost of one call', async () => {
    const { claimant } = await startStalled();
    claimant.process.signal('SIGKILL');
    const follower = await start();
    expect(await read(follower, { prefer: 'wait=20' })).toBeGreaterThan(0);
    expect(await createCalls()).toBe(2);
  });

  it('by SIGSTOP beyond its lease publishes nothing when it goes on, and takes over what another has published', async () => {
    const { claimant, release } = await startStalled();
    claimant.process.signal('SIGSTOP');
    await release();
    const follower = await start();
    const generation = await read(follower, { prefer: 'wait=20' });
    expect(generation).toBeGreaterThan(0);
    claimant.process.signal('SIGCONT');
    await eventually(async () => (await read(claimant)) === generation);
    expect(await read(follower)).toBe(generation);
    expect(await createCalls()).toBe(2);
    expect(claimant.process.out).not.toContain('"outcome":"success"');
  });

  it('or by neither, costs no second call: six processes that start at once make one', async () => {
    const started = await Promise.all(Array.from({ length: 6 }, () => start()));
    const generations = await Promise.all(started.map((replica) => read(replica, { prefer: 'wait=10' })));
    expect(new Set(generations).size).toBe(1);
    expect(await createCalls()).toBe(1);
  });
});
