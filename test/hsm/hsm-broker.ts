import { hash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '#libs/clock';
import { importPaymentKey, sealJwe } from '#libs/jwe';
import { createLogger } from '#libs/telemetry';
import { freePort, startedWhole } from '#libs/testing';
import { startSandbox } from '../../apps/sandbox/src/sandbox.js';
import { ProgramProcess } from '../e2e/program-process.js';
import { sandboxControl } from '../sandbox/sandbox-control.js';

const SERVICE_CODE = '137d9304-0368-11ed-b939-0242ac120002';
const TOKEN = 'token-of-checkout';
const SHOP = '/v1/merchants/shop';

interface HsmBrokerSetUp {
  readonly privateJwk: Readonly<Record<string, string>>;
  /** The content of the merchant's key files, newest first. */
  readonly keyFiles: readonly string[];
  /** The module that they name, if any. */
  readonly module?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly lifetimeMs?: number;
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A broker as a process, in front of a sandbox in this one. */
export class HsmBroker {
  readonly folder: string;
  readonly #setUp: HsmBrokerSetUp;
  readonly #ends: (() => Promise<unknown>)[] = [];
  #url = '';
  #sandboxUrl = '';
  #process: ProgramProcess | undefined;

  static async start(setUp: HsmBrokerSetUp): Promise<HsmBroker> {
    const broker = new HsmBroker(await mkdtemp(join(tmpdir(), 'hsm-broker-')), setUp);
    return startedWhole(broker, { start: () => broker.#start(), end: () => broker.end() });
  }

  private constructor(folder: string, setUp: HsmBrokerSetUp) {
    this.folder = folder;
    this.#setUp = setUp;
  }

  get config(): string {
    return join(this.folder, 'broker.yaml');
  }

  get process(): ProgramProcess {
    if (this.#process === undefined) throw new Error('the broker has not been started');
    return this.#process;
  }

  session(query: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.#ask(`${SHOP}/session`, { headers: query });
  }

  async generation(): Promise<number> {
    return Number((await this.session()).body['generation']);
  }

  /** What the broker shows about the merchant. */
  async merchant(): Promise<Readonly<Record<string, unknown>>> {
    const { merchants } = (await this.#ask('/v1/merchants')).body as { merchants: Record<string, unknown>[] };
    return merchants[0] ?? {};
  }

  /** What the gateway seals to the merchant, opened by the broker. */
  async decrypt(plaintext: string): Promise<Answer> {
    const { kty, crv, x, y } = this.#setUp.privateJwk;
    const jwe = await sealJwe(Buffer.from(plaintext), await importPaymentKey({ kty, crv, x, y }));
    const headers = { 'content-type': 'application/json' };
    return this.#ask(`${SHOP}/payloads/decrypt`, { method: 'POST', headers, body: JSON.stringify({ jwe }) });
  }

  /** Create calls that the gateway has received. */
  async createCalls(): Promise<number> {
    const request = { method: 'GET', path: '/calls?operation=authorize', body: undefined };
    return ((await sandboxControl(this.#sandboxUrl, request)) as { matching: number }).matching;
  }

  async end(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end();
    await rm(this.folder, { recursive: true, force: true });
  }

  async #ask(path: string, { headers, ...request }: RequestInit = {}): Promise<Answer> {
    const authorization = { authorization: `Bearer ${TOKEN}`, ...(headers as Record<string, string>) };
    const response = await fetch(this.#url + path, { ...request, headers: authorization });
    const body = (await response.json()) as Answer['body'];
    return { status: response.status, retryAfter: response.headers.get('retry-after'), body };
  }

  async #start(): Promise<void> {
    const { privateJwk, keyFiles, module, lifetimeMs = 60_000, environment = {} } = this.#setUp;
    const { d: _private, ...publicJwk } = privateJwk;
    const sandbox = await startSandbox({
      ...{ host: '127.0.0.1', port: 0, clock: new SystemClock() },
      logger: createLogger({ name: 'sandbox', level: 'error' }),
      merchants: [{ id: 'shop', serviceCode: SERVICE_CODE, publicJwk, lifetimeMs }],
    });
    this.#ends.push(() => sandbox.close());
    this.#sandboxUrl = sandbox.url;
    const port = await freePort();
    this.#url = `http://127.0.0.1:${port}`;
    const names = keyFiles.map((_content, index) => `key-${index}.json`);
    for (const [index, name] of names.entries()) {
      await writeFile(join(this.folder, name), keyFiles[index] ?? '', { mode: 0o600 });
    }
    await writeFile(
      this.config,
      `
http: { host: 127.0.0.1, port: ${port} }
management: { host: 127.0.0.1, port: ${await freePort()} }
auth:
  tokens: [{ caller: checkout, sha256: ${hash('sha256', TOKEN)} }]
  policies: [{ caller: checkout, merchants: [shop], allow: [session:read, payload:decrypt] }]
pkcs11: { modules: ${JSON.stringify(module === undefined ? [] : [module])} }
merchants:
  - id: shop
    serviceCode: ${SERVICE_CODE}
    clientKeyFiles: [${names.join(', ')}]
    gateway: { baseUrl: '${sandbox.url}', environment: test, timeout: 1s }
`,
    );
    const broker = new ProgramProcess('broker', { environment: { BROKER_CONFIG: this.config, ...environment } });
    this.#process = broker;
    this.#ends.push(() => {
      broker.signal('SIGTERM');
      return broker.ended;
    });
    await broker.said(/"msg":"session renewed"/);
  }
}
