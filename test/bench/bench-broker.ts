import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateClientKey } from '#libs/jwe';
import { programRuntime } from '#libs/program';
import { freePort, RedisProcess } from '#libs/testing';
import { BenchProcess, type BenchProcessOptions, OTHER_CPU, SERVER_CPU, untilOk } from './bench-process.js';

export const TOKEN = 'token-of-the-bench';
const ROOT = join(import.meta.dirname, '..', '..', '..');
const SERVICE_CODE = '137d9304-0368-11ed-b939-0242ac120002';

export interface BenchBrokerOptions extends Pick<BenchProcessOptions, 'memoryMib' | 'env'> {
  /** Broker and sandbox each have a processor of their own. */
  readonly isPinned?: boolean;
  /** Sessions are in a Redis of its own, and not in memory. */
  readonly hasRedis?: boolean;
  /** Where the programs are; in dist/ of this folder if left out. */
  readonly root?: string;
  /** Further members, in flow style, of the sections `http` and `auth`, and of the merchant's `session`. */
  readonly http?: string;
  readonly auth?: string;
  readonly session?: string;
  /** A caller that may read, with a credential other than the token of the bench. */
  readonly caller?: string;
  /** Files next to the configuration. */
  readonly files?: Readonly<Record<string, string>>;
}

interface Parts {
  readonly folder: string;
  readonly sandboxUrl: string;
  readonly url: string;
  readonly managementUrl: string;
  readonly publicJwk: Record<string, string>;
  readonly sandbox: BenchProcess;
  readonly redis: RedisProcess | undefined;
  readonly startBroker: () => BenchProcess;
}

/**
 * The built sandbox and broker as separate processes, started as in the image, with one merchant `shop` and one caller
 * who may do everything.
 */
export class BenchBroker {
  static readonly headers = { authorization: `Bearer ${TOKEN}` };
  broker: BenchProcess;

  private constructor(readonly parts: Parts) {
    this.broker = parts.startBroker();
  }

  get url(): string {
    return this.parts.url;
  }

  get sessionUrl(): string {
    return `${this.url}/v1/merchants/shop/session`;
  }

  /** Resolves once the first session can be read. */
  static async start(options: BenchBrokerOptions = {}): Promise<BenchBroker> {
    const folder = await mkdtemp(join(tmpdir(), 'session-broker-bench-'));
    const [port, managementPort, sandboxPort] = [await freePort(), await freePort(), await freePort()];
    const redis = options.hasRedis === true ? await RedisProcess.start() : undefined;
    const { privateJwk, publicJwk } = await generateClientKey();
    const merchant = { id: 'shop', serviceCode: SERVICE_CODE, publicJwk, lifetimeMs: 3_600_000 };
    const [merchants, yaml] = [join(folder, 'merchants.json'), join(folder, 'broker.yaml')];
    const store = redis === undefined ? '{ type: memory }' : `{ type: redis, url: '${redis.url}' }`;
    await writeFile(join(folder, 'key.json'), JSON.stringify(privateJwk), { mode: 0o600 });
    await writeFile(merchants, JSON.stringify([merchant]));
    for (const [name, text] of Object.entries(options.files ?? {})) await writeFile(join(folder, name), text);
    await writeFile(yaml, configuration({ port, managementPort, sandboxPort, store }, options));
    const cpus = options.isPinned === true ? { broker: SERVER_CPU, sandbox: OTHER_CPU } : undefined;
    const started = new BenchBroker({
      ...{ folder, publicJwk, redis, url: `http://127.0.0.1:${port}` },
      ...{ sandboxUrl: `http://127.0.0.1:${sandboxPort}`, managementUrl: `http://127.0.0.1:${managementPort}` },
      sandbox: new BenchProcess(program('sandbox', options), {
        env: { SANDBOX_PORT: String(sandboxPort), SANDBOX_MERCHANTS: merchants },
        cpu: cpus?.sandbox,
      }),
      startBroker: () =>
        new BenchProcess(program('broker', options), {
          env: { BROKER_CONFIG: yaml, ...programRuntime.environment, ...options.env },
          memoryMib: options.memoryMib,
          cpu: cpus?.broker,
        }),
    });
    await untilOk(started.sessionUrl, BenchBroker.headers);
    return started;
  }

  /** Create calls that the sandbox has received. */
  async createCalls(): Promise<number> {
    const response = await fetch(`${this.parts.sandboxUrl}/control/calls?operation=authorize`);
    return ((await response.json()) as { matching: number }).matching;
  }

  /** Stops the broker and starts it again with the same files. @returns the seconds from its start until it is ready */
  async restart(): Promise<number> {
    await this.broker[Symbol.asyncDispose]();
    const startedAt = performance.now();
    this.broker = this.parts.startBroker();
    await untilOk(`${this.parts.managementUrl}/readyz`);
    return (performance.now() - startedAt) / 1_000;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { sandbox, redis, folder } = this.parts;
    await this.broker[Symbol.asyncDispose]();
    await sandbox[Symbol.asyncDispose]();
    await redis?.stop();
    await rm(folder, { recursive: true });
  }
}

function program(app: string, { root = ROOT }: BenchBrokerOptions): readonly string[] {
  return [process.execPath, ...programRuntime.nodeArguments, join(root, 'dist', 'programs', `${app}.js`)];
}

function configuration(
  at: { port: number; managementPort: number; sandboxPort: number; store: string },
  { http, auth, caller, session }: BenchBrokerOptions,
): string {
  const sha256 = createHash('sha256').update(TOKEN).digest('hex');
  const allow = '[session:read, session:reject, payload:encrypt, payload:decrypt]';
  return `
http: { host: 127.0.0.1, port: ${at.port}${http === undefined ? '' : `, ${http}`} }
management: { host: 127.0.0.1, port: ${at.managementPort} }
store: ${at.store}
auth:
  tokens: [{ caller: bench, sha256: "${sha256}" }]
  policies:
    - { caller: bench, merchants: [shop], allow: ${allow} }
${caller === undefined ? '' : `    - { caller: '${caller}', merchants: [shop], allow: [session:read] }\n`}${auth === undefined ? '' : `  ${auth}\n`}log: { level: error }
merchants:
  - id: shop
    serviceCode: ${SERVICE_CODE}
    clientKeyFiles: [key.json]
    gateway: { baseUrl: 'http://127.0.0.1:${at.sandboxPort}', environment: test }
${session === undefined ? '' : `    session: { ${session} }\n`}`;
}
