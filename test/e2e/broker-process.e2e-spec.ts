import { hash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '#libs/clock';
import { generateClientKey } from '#libs/jwe';
import { OLDEST_NODE } from '#libs/program';
import { createLogger } from '#libs/telemetry';
import { eventually } from '#libs/testing';
import { startSandbox } from '../../apps/sandbox/src/sandbox.js';
import { sandboxControl } from '../sandbox/sandbox-control.js';
import { MountedVolume } from './mounted-volume.js';
import { ProgramProcess } from './program-process.js';

const SERVICE_CODE = '137d9304-0368-11ed-b939-0242ac120002';
const MOUNTED_SERVICE_CODE = '137d9304-0368-11ed-b939-0242ac120003';
const TOKEN = 'token-of-checkout';
const TOKEN_SHA256 = hash('sha256', TOKEN);
const LIFETIME_MS = 3_600_000;
const POLICY = '{ caller: checkout, merchants: [shop], allow: [session:read] }';

function brokerWith(environment: Record<string, string>): ProgramProcess {
  return new ProgramProcess('broker', { environment: { BROKER_CONFIG: '', ...environment } });
}

/** Where it listens, according to the line that it logs. */
async function placesOf(broker: ProgramProcess): Promise<{ readonly url: string; readonly managementUrl: string }> {
  const [line] = await broker.said(/^.*"msg":"broker started".*$/m);
  return JSON.parse(line) as { url: string; managementUrl: string };
}

const said = (message: string): RegExp => new RegExp(`"msg":"${message}"`);

function expectJsonLines(out: string): void {
  const lines = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.some(({ stream }) => stream === 'audit')).toBe(true);
  const own = { level: expect.any(String), time: expect.stringMatching(/Z$/), name: 'broker', msg: expect.any(String) };
  for (const line of lines.filter(({ stream }) => stream !== 'audit')) expect(line).toMatchObject(own);
  expect(out).not.toContain(SERVICE_CODE);
}

describe('the broker as a process', () => {
  let folder: string;
  let sandbox: { url: string; close(): Promise<void> };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'session-broker-'));
    const key = await generateClientKey();
    await writeFile(join(folder, 'shop.jwk.json'), JSON.stringify(key.privateJwk), { mode: 0o600 });
    sandbox = await startSandbox({
      host: '127.0.0.1',
      port: 0,
      clock: new SystemClock(),
      logger: createLogger({ name: 'sandbox', level: 'error' }),
      merchants: [{ id: 'shop', serviceCode: SERVICE_CODE, publicJwk: key.publicJwk, lifetimeMs: LIFETIME_MS }],
    });
  });
  afterAll(async () => {
    await sandbox.close();
    await rm(folder, { recursive: true });
  });

  async function configuration(changes: { extra?: string } = {}): Promise<string> {
    const file = join(folder, 'broker.yaml');
    await writeFile(
      file,
      `
http: { host: 127.0.0.1, port: 0 }
management: { host: 127.0.0.1, port: 0 }
${changes.extra ?? `auth: { tokens: [{ caller: checkout, sha256: ${TOKEN_SHA256} }], policies: [${POLICY}] }`}
merchants:
  - id: shop
    serviceCode: ${SERVICE_CODE}
    clientKeyFiles: [shop.jwk.json]
    gateway: { baseUrl: '${sandbox.url}', environment: test, timeout: 60s }
`,
    );
    return file;
  }

  async function refusalOf(env: Record<string, string>): Promise<string> {
    const broker = brokerWith(env);
    expect(await broker.ended).toBe(1);
    expect(broker.err.trimEnd().split('\n')).toHaveLength(1);
    expect(broker.err).not.toMatch(/\n\s+at /);
    return broker.err;
  }

  it('serves, is alive and ends in order while nobody reads its log any more', async () => {
    const sealing = POLICY.replace('session:read', 'session:read, payload:encrypt');
    const extra = `auth: { tokens: [{ caller: checkout, sha256: ${TOKEN_SHA256} }], policies: [${sealing}] }`;
    const broker = brokerWith({ BROKER_CONFIG: await configuration({ extra }) });
    await broker.said(said('session renewed'));
    const { url, managementUrl } = await placesOf(broker);
    broker.stall();
    const merchant = `${url}/v1/merchants/shop`;
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    // Each writes an audit record to the same pipe: more in total than the pipe and its reader hold.
    const seal = async (): Promise<number> =>
      (await fetch(`${merchant}/payloads/encrypt`, { method: 'POST', headers, body: '{"plaintext":"{}"}' })).status;
    for (let batch = 0; batch < 100; batch += 1)
      expect(await Promise.all(Array.from({ length: 10 }, seal))).toEqual(Array(10).fill(200));
    expect((await fetch(`${merchant}/session`, { headers })).status).toBe(200);
    expect((await fetch(`${managementUrl}/livez`)).status).toBe(200);
    const scrape = await (await fetch(`${managementUrl}/metrics`)).text();
    expect(scrape).toMatch(/^session_broker_lost_log_lines_total 0$/m);
    broker.signal('SIGTERM');
    expect(await broker.exited).toBe(0);
  });

  it('renews, answers a scrape, logs one JSON object per line, and ends on SIGTERM with code 0', async () => {
    const broker = brokerWith({ BROKER_CONFIG: await configuration() });
    await broker.said(said('session renewed'));
    const { url, managementUrl } = await placesOf(broker);
    await fetch(`${url}/v1/merchants/shop/session`, { headers: { authorization: `Bearer ${TOKEN}` } });
    const scrape = await (await fetch(`${managementUrl}/metrics`)).text();
    broker.signal('SIGTERM');
    expect(await broker.ended).toBe(0);
    expect(broker.err).toBe('');
    expectJsonLines(broker.out);
    for (const line of [
      'session_broker_renewals_total{merchant="shop",trigger="startup",outcome="success"} 1',
      'session_broker_renewal_duration_seconds_count{merchant="shop"} 1',
      'session_broker_reads_total{merchant="shop",result="fresh"} 1',
      'session_broker_leases_total{result="claimed"} 1',
      'session_broker_store_up 1',
      'session_broker_store_refusing 0',
      'session_broker_watchers 0',
    ]) {
      expect(scrape).toContain(`${line}\n`);
    }
    expect(scrape).not.toMatch(/target_info|otel_scope|process_pid/);
  });

  it('says what to set when it has no configuration', async () => {
    expect(await refusalOf({})).toContain('BROKER_CONFIG');
  });

  it.each(['broker', 'egress'] as const)(
    'says on a Node.js that is too old that it is, as %s, before all else',
    async (app) => {
      const program = `Object.defineProperty(process.versions, 'node', { value: '20.20.2' });`;
      const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(program)}`;
      const old = new ProgramProcess(app, { environment: { NODE_OPTIONS } });
      expect(await old.ended).toBe(1);
      const why = `session-${app} cannot start: Node.js 20.20.2 is too old: run at least ${OLDEST_NODE}; a clone has one of its own: `;
      expect(old.err.trimEnd().split('\n')).toEqual([expect.stringContaining(why)]);
    },
  );

  it.each([
    ['a callback', 'throw error()'],
    ['a promise', 'void Promise.reject(error())'],
  ])(
    'ends in order after an error in %s that nobody caught, and says where it was but not what',
    async (_what, fault) => {
      const program = `const secret = ['a', 'secret'].join('-');
      const error = () => Object.assign(new TypeError(secret + '\\n at ' + secret), { token: secret });
      process.on('SIGUSR2', function faulty() { ${fault} });`;
      const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(program)}`;
      const broker = brokerWith({ BROKER_CONFIG: await configuration(), NODE_OPTIONS });
      await broker.said(said('session renewed'));
      broker.signal('SIGUSR2');
      expect(await broker.ended).toBe(1);
      expect(broker.err).toMatch(/^nobody caught: TypeError at .*faulty.*\n$/);
      expect(broker.err + broker.out).not.toContain('a-secret');
      expect(broker.out).toMatch(said('broker stopped'));
    },
  );

  it('names the sources where an error came from, and not the bundle that runs', async () => {
    const program = `const { abort } = AbortController.prototype;
    process.on('SIGUSR2', () => {
      AbortController.prototype.abort = () => {
        AbortController.prototype.abort = abort;
        throw new TypeError();
      };
      process.emit('SIGTERM');
    });`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(program)}`;
    const broker = brokerWith({ BROKER_CONFIG: await configuration(), NODE_OPTIONS });
    await broker.said(said('session renewed'));
    broker.signal('SIGUSR2');
    expect(await broker.ended).toBe(1);
    expect(broker.err).toMatch(/^nobody caught: TypeError .* \(libs\/program\/src\/program-signals\.ts:\d+:\d+\)/);
    expect(broker.err).not.toContain('dist/programs');
  });

  it('takes volumes that are exchanged, one after the other, by itself and on SIGHUP, and counts what it cannot take', async () => {
    const place = await mkdtemp(join(folder, 'volumes-'));
    const [config, keys] = [new MountedVolume(join(place, 'config')), new MountedVolume(join(place, 'keys'))];
    const [first, second] = [await generateClientKey(), await generateClientKey()];
    await sandboxControl(sandbox.url, {
      ...{ method: 'POST', path: '/merchants' },
      body: { id: 'mounted', serviceCode: MOUNTED_SERVICE_CODE, publicJwk: first.publicJwk, lifetimeMs: LIFETIME_MS },
    });
    const merchant = {
      ...{ id: 'mounted', serviceCode: MOUNTED_SERVICE_CODE, clientKeyFiles: ['../keys/shop.jwk.json'] },
      gateway: { baseUrl: sandbox.url, environment: 'test', timeout: '60s' },
    };
    const configured = (level: string): Record<string, string> => ({
      'broker.yaml': JSON.stringify({
        ...{ http: { port: 0 }, management: { port: 0 }, auth: { disabled: true } },
        ...{ reload: { every: '1s' }, log: { level }, merchants: [merchant] },
      }),
    });
    await config.write(configured('info'));
    await keys.write({ 'shop.jwk.json': JSON.stringify(first.privateJwk) });
    const broker = brokerWith({ BROKER_CONFIG: join(place, 'config', 'broker.yaml') });
    const { url, managementUrl } = await placesOf(broker);
    const metric = async (name: string): Promise<number> => {
      const scrape = await (await fetch(`${managementUrl}/metrics`)).text();
      return Number(new RegExp(`^session_broker_${name} (\\S+)$`, 'm').exec(scrape)?.[1] ?? 0);
    };
    await broker.said(said('session renewed'));
    await keys.write({ 'shop.jwk.json': JSON.stringify(second.privateJwk) });
    await broker.said(/"changed":"mounted",.*"msg":"the changed configuration is in force"/);
    const held = await (await fetch(`${url}/v1/merchants/mounted/client-key`)).json();
    expect(held).toMatchObject({ thumbprint: second.thumbprint });
    await config.write(configured('wrong'));
    await broker.said(/"path":"log.level".*"msg":"the changed configuration is not taken/);
    expect(await metric('config_last_reload_successful')).toBe(0);
    expect(await metric('config_reload_failures_total')).toBe(1);
    await config.write(configured('debug'));
    broker.signal('SIGHUP');
    await broker.said(/"settings":"log.level","msg":"the changed configuration is in force"/);
    await eventually(async () => (await metric('config_last_reload_successful')) === 1);
    expect(await metric('config_reload_failures_total')).toBe(1);
    expect(broker.out.match(/"msg":"session renewed"/g)).toHaveLength(1);
    broker.signal('SIGTERM');
    expect(await broker.ended).toBe(0);
  });
});
