import { hash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '#libs/clock';
import { generateClientKey } from '#libs/jwe';
import { createLogger } from '#libs/telemetry';
import { freePort, startedWhole } from '#libs/testing';
import { startSandbox } from '../../apps/sandbox/src/sandbox.js';
import { CliProcess } from '../e2e/cli-process.js';
import { ProgramProcess } from '../e2e/program-process.js';
import { sandboxControl } from '../sandbox/sandbox-control.js';

const TOKEN = 'token-of-checkout';
const SERVICE_CODE = '137d9304-0368-11ed-b939-0242ac120002';

export interface ReplicaProcess {
  readonly process: ProgramProcess;
  readonly url: string;
}

interface ReplicasOptions {
  readonly redisUrl: string;
  /** Of a session; an hour if left out, so that none is renewed by itself while a test runs. */
  readonly lifetimeMs?: number;
  /** For one create call; half a minute if left out: a call that is given up is made again, and calls are counted. */
  readonly timeout?: string;
}

/** What a replica says about the merchant's condition. */
interface Said {
  readonly condition: string;
  readonly cause?: string;
  readonly runbook?: string;
}

interface Session {
  readonly generation: number;
  readonly createdAt: string;
}

/** Replicas of the built broker, each a separate process, with one Redis and one simulated gateway. */
export class ReplicaProcesses {
  readonly #options: ReplicasOptions;
  readonly #replicas: ReplicaProcess[] = [];
  readonly #ends: (() => Promise<void>)[] = [];
  #folder = '';
  #sandboxUrl = '';

  static async start(options: ReplicasOptions): Promise<ReplicaProcesses> {
    const group = new ReplicaProcesses(options);
    return startedWhole(group, { start: () => group.#start(), end: () => group.close() });
  }

  private constructor(options: ReplicasOptions) {
    this.#options = options;
  }

  async close(): Promise<void> {
    for (const { process } of this.#replicas.splice(0)) {
      process.signal('SIGKILL');
      await process.ended;
    }
    for (const end of this.#ends.splice(0).reverse()) await end();
  }

  control(method: string, path: string, body?: object): Promise<unknown> {
    return sandboxControl(this.#sandboxUrl, { method, path, body });
  }

  /** Create calls that have reached the gateway. */
  async createCalls(): Promise<number> {
    return ((await this.control('GET', '/calls?operation=authorize&until=arrived')) as { matching: number }).matching;
  }

  /** Makes the gateway hold the next create call. @returns how to wait for its arrival, and how to release it */
  async holdCreateCall(): Promise<{
    readonly arrived: () => Promise<unknown>;
    readonly release: () => Promise<unknown>;
  }> {
    const already = await this.createCalls();
    const fault = { kind: 'hold', operation: 'authorize', times: 1 };
    const { id } = (await this.control('POST', '/faults', fault)) as { id: string };
    return {
      arrived: () => this.control('GET', `/calls?operation=authorize&until=arrived&waitFor=${already + 1}`),
      release: () => this.control('POST', `/faults/${id}/release`),
    };
  }

  async add(): Promise<ReplicaProcess> {
    const port = await freePort();
    const file = join(this.#folder, `broker-${port}.yaml`);
    const { redisUrl, timeout = '30s' } = this.#options;
    await writeFile(
      file,
      `
http: { host: 127.0.0.1, port: ${port} }
management: { host: 127.0.0.1, port: ${await freePort()} }
store: { type: redis, url: '${redisUrl}' }
auth:
  tokens: [{ caller: checkout, sha256: ${hash('sha256', TOKEN)} }]
  policies: [{ caller: checkout, merchants: [shop], allow: [session:read, session:reject, session:renew] }]
log: { level: debug }
merchants:
  - id: shop
    serviceCode: ${SERVICE_CODE}
    clientKeyFiles: [shop.jwk.json]
    gateway: { baseUrl: '${this.#sandboxUrl}', environment: test, timeout: ${timeout} }
`,
    );
    const process = new ProgramProcess('broker', { environment: { BROKER_CONFIG: file } });
    const replica = { process, url: `http://127.0.0.1:${port}` };
    this.#replicas.push(replica);
    await process.said(/"msg":"broker started"/);
    return replica;
  }

  /** The generation that is served; undefined if there is none. */
  async read(replica: ReplicaProcess, headers: Record<string, string> = {}): Promise<number | undefined> {
    return (await this.session(replica, headers))?.generation;
  }

  async session({ url }: ReplicaProcess, headers: Record<string, string> = {}): Promise<Session | undefined> {
    const response = await fetch(`${url}/v1/merchants/shop/session`, { headers: { ...AUTHORIZATION, ...headers } });
    return response.ok ? ((await response.json()) as Session) : undefined;
  }

  async said({ url }: ReplicaProcess): Promise<Said | undefined> {
    const response = await fetch(`${url}/v1/merchants`, { headers: AUTHORIZATION });
    const { merchants } = (await response.json()) as { readonly merchants: readonly Said[] };
    return merchants[0];
  }

  /** A consumer reports that the gateway refuses the generation. @returns the status of the answer */
  async reject({ url }: ReplicaProcess, generation: number): Promise<number> {
    const body = JSON.stringify({ generation, reason: 'b_expired_token' });
    const headers = { ...AUTHORIZATION, 'content-type': 'application/json' };
    return (await fetch(`${url}/v1/merchants/shop/session/rejections`, { method: 'POST', headers, body })).status;
  }

  /** The command `renew` at one replica, as a person on call runs it. */
  async renew({ url }: ReplicaProcess): Promise<{ readonly code: number | null; readonly out: string }> {
    const tokenFile = join(this.#folder, 'checkout.token');
    await writeFile(tokenFile, `${TOKEN}\n`);
    const environment = { BROKER_URL: url, BROKER_TOKEN_FILE: tokenFile };
    const cli = new CliProcess(['renew', '--merchant', 'shop'], environment);
    return { code: await cli.ended, out: cli.out + cli.err };
  }

  async #start(): Promise<void> {
    this.#folder = await mkdtemp(join(tmpdir(), 'session-broker-'));
    this.#ends.push(() => rm(this.#folder, { recursive: true }));
    const key = await generateClientKey();
    await writeFile(join(this.#folder, 'shop.jwk.json'), JSON.stringify(key.privateJwk), { mode: 0o600 });
    const { lifetimeMs = 3_600_000 } = this.#options;
    const sandbox = await startSandbox({
      host: '127.0.0.1',
      port: 0,
      clock: new SystemClock(),
      logger: createLogger({ name: 'sandbox', level: 'error' }),
      merchants: [{ id: 'shop', serviceCode: SERVICE_CODE, publicJwk: key.publicJwk }],
      settings: { lifetimeMs },
    });
    this.#ends.push(() => sandbox.close());
    this.#sandboxUrl = sandbox.url;
  }
}

const AUTHORIZATION = { authorization: `Bearer ${TOKEN}` };
