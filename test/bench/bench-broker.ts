import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateClientKey } from '#libs/jwe';
import { programRuntime } from '#libs/program';
import { freePort } from '#libs/testing';
import { BenchProcess, untilOk } from './bench-process.js';

export const TOKEN = 'token-of-the-bench';
const ROOT = join(import.meta.dirname, '..', '..', '..');
const SERVICE_CODE = '137d9304-0368-11ed-b939-0242ac120002';

export interface BenchBrokerOptions {
  /** The limit of the broker's memory; none if left out. */
  readonly memoryMib?: number;
  /** Processors by number; any if left out. */
  readonly brokerCpu?: number;
  readonly sandboxCpu?: number;
  /** Members of the sandbox's merchant. */
  readonly merchant?: object;
  /** Further members of the merchant's section `gateway`, in flow style. */
  readonly gateway?: string;
  /** Further lines of the sections `http` and `auth`, in flow style. */
  readonly http?: string;
  /** The section `store`, in flow style. */
  readonly store?: string;
  /** Where the programs are; in dist/ of this folder if left out. */
  readonly root?: string;
  /** The merchant's section `session`, in flow style. */
  readonly session?: string;
  readonly auth?: string;
  /** A caller that may read, with a credential other than the token of the bench. */
  readonly caller?: string;
  /** For the broker, in addition to what it needs. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Files next to the configuration. */
  readonly files?: Readonly<Record<string, string>>;
}

/**
 * The built sandbox and broker as separate processes, started as in the image, with one merchant `shop` and one caller
 * who may do everything.
 */
export class BenchBroker {
  readonly folder: string;
  readonly sandboxUrl: string;
  readonly url: string;
  readonly publicJwk: Record<string, string>;
  readonly managementUrl: string;
  broker: BenchProcess;
  readonly #sandbox: BenchProcess;
  readonly #startBroker: () => BenchProcess;

  private constructor(
    parts: Pick<BenchBroker, 'folder' | 'sandboxUrl' | 'url' | 'managementUrl' | 'publicJwk'> & {
      readonly startBroker: () => BenchProcess;
    },
    { broker, sandbox }: { readonly broker: BenchProcess; readonly sandbox: BenchProcess },
  ) {
    this.folder = parts.folder;
    this.sandboxUrl = parts.sandboxUrl;
    this.url = parts.url;
    this.publicJwk = parts.publicJwk;
    this.managementUrl = parts.managementUrl;
    this.broker = broker;
    this.#sandbox = sandbox;
    this.#startBroker = parts.startBroker;
  }

  static get headers(): Readonly<Record<string, string>> {
    return { authorization: `Bearer ${TOKEN}` };
  }

  get sessionUrl(): string {
    return `${this.url}/v1/merchants/shop/session`;
  }

  /** Resolves once the first session can be read. */
  static async start(options: BenchBrokerOptions = {}): Promise<BenchBroker> {
    const folder = await mkdtemp(join(tmpdir(), 'session-broker-bench-'));
    const [port, managementPort, sandboxPort] = [await freePort(), await freePort(), await freePort()];
    const { privateJwk, publicJwk } = await generateClientKey();
    const merchant = { id: 'shop', serviceCode: SERVICE_CODE, publicJwk, lifetimeMs: 3_600_000, ...options.merchant };
    const merchants = join(folder, 'merchants.json');
    const yaml = join(folder, 'broker.yaml');
    await writeFile(join(folder, 'key.json'), JSON.stringify(privateJwk), { mode: 0o600 });
    await writeFile(merchants, JSON.stringify([merchant]));
    for (const [name, text] of Object.entries(options.files ?? {})) await writeFile(join(folder, name), text);
    await writeFile(yaml, configuration({ port, managementPort, sandboxPort }, options));
    const sandboxEnv = { SANDBOX_PORT: String(sandboxPort), SANDBOX_MERCHANTS: merchants };
    const sandbox = new BenchProcess(program('sandbox', options), { env: sandboxEnv, ...cpu(options.sandboxCpu) });
    const startBroker = (): BenchProcess =>
      new BenchProcess(program('broker', options), {
        env: { BROKER_CONFIG: yaml, ...programRuntime.environment, ...options.environment },
        memoryMib: options.memoryMib,
        ...cpu(options.brokerCpu),
      });
    const broker = startBroker();
    const url = `http://127.0.0.1:${port}`;
    const sandboxUrl = `http://127.0.0.1:${sandboxPort}`;
    const managementUrl = `http://127.0.0.1:${managementPort}`;
    const parts = { folder, sandboxUrl, url, managementUrl, publicJwk, startBroker };
    const started = new BenchBroker(parts, { broker, sandbox });
    await untilOk(started.sessionUrl, BenchBroker.headers);
    return started;
  }

  /** Create calls that the sandbox has received. */
  async createCalls(): Promise<number> {
    const response = await fetch(`${this.sandboxUrl}/control/calls?operation=authorize`);
    return ((await response.json()) as { matching: number }).matching;
  }

  /** Stops the broker and starts it again with the same files. @returns the seconds from its start until it is ready */
  async restart(): Promise<number> {
    await this.broker.stop();
    const startedAt = performance.now();
    this.broker = this.#startBroker();
    await untilOk(`${this.managementUrl}/readyz`);
    return (performance.now() - startedAt) / 1_000;
  }

  async stop(): Promise<void> {
    await this.broker.stop();
    await this.#sandbox.stop();
    await rm(this.folder, { recursive: true });
  }
}

function program(app: string, { root = ROOT }: BenchBrokerOptions): readonly string[] {
  return [process.execPath, ...programRuntime.nodeArguments, join(root, 'dist', 'programs', `${app}.js`)];
}

function cpu(number: number | undefined): { cpu?: number } {
  return number === undefined ? {} : { cpu: number };
}

function configuration(
  ports: { port: number; managementPort: number; sandboxPort: number },
  { http, auth, caller, gateway, session, store }: BenchBrokerOptions,
): string {
  const sha256 = createHash('sha256').update(TOKEN).digest('hex');
  const allow = '[session:read, session:reject, payload:encrypt, payload:decrypt]';
  return `
http: { host: 127.0.0.1, port: ${ports.port}${http === undefined ? '' : `, ${http}`} }
management: { host: 127.0.0.1, port: ${ports.managementPort} }
store: ${store ?? '{ type: memory }'}
auth:
  tokens: [{ caller: bench, sha256: "${sha256}" }]
  policies:
    - { caller: bench, merchants: [shop], allow: ${allow} }
${caller === undefined ? '' : `    - { caller: '${caller}', merchants: [shop], allow: [session:read] }\n`}${auth === undefined ? '' : `  ${auth}\n`}log: { level: error }
merchants:
  - id: shop
    serviceCode: ${SERVICE_CODE}
    clientKeyFiles: [key.json]
    gateway: { baseUrl: 'http://127.0.0.1:${ports.sandboxPort}', environment: test${gateway === undefined ? '' : `, ${gateway}`} }
${session === undefined ? '' : `    session: { ${session} }\n`}`;
}
