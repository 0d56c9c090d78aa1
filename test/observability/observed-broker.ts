import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '#libs/clock';
import { generateClientKey } from '#libs/jwe';
import { createLogger } from '#libs/telemetry';
import { startedWhole } from '#libs/testing';
import { startSandbox } from '../../apps/sandbox/src/sandbox.js';
import { ProgramProcess } from '../e2e/program-process.js';
import { sandboxControl } from '../sandbox/sandbox-control.js';

const SERVICE_CODE = '137d9304-0368-11ed-b939-0242ac120002';
const TOKEN = 'token-of-the-observed-checkout';

export interface ObservedSetUp {
  /** Further sections of the configuration, as YAML. */
  readonly sections?: string;
  /** Faults that the sandbox has before the broker starts. */
  readonly faults?: readonly object[];
}

/** A broker as a separate process with its own environment, in front of a sandbox in this process. */
export class ObservedBroker {
  url = '';
  managementUrl = '';
  /** Sessions that it has handed out: to reads, and in place of one that was rejected. */
  reads = 0;
  #folder = '';
  #sandbox: Awaited<ReturnType<typeof startSandbox>> | undefined;
  #process: ProgramProcess | undefined;
  #secrets: string[] = [TOKEN, SERVICE_CODE];

  static async start(environment: Record<string, string> = {}, setUp: ObservedSetUp = {}): Promise<ObservedBroker> {
    const broker = new ObservedBroker();
    return startedWhole(broker, { start: () => broker.#start(environment, setUp), end: () => broker.stop() });
  }

  /** What must not show up anywhere. */
  get secrets(): readonly string[] {
    return this.#secrets;
  }

  get lines(): Record<string, unknown>[] {
    const { out = '' } = this.#process ?? {};
    return out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** A session that was handed out counts as a secret from then on. */
  async session(headers: Record<string, string> = {}): Promise<{ generation: number }> {
    const response = await this.#ask('/session', { headers: { prefer: 'wait=10', ...headers } });
    return this.#note(response);
  }

  async reject(generation: number, headers: Record<string, string> = {}): Promise<{ generation: number }> {
    const body = JSON.stringify({ generation, reason: 'b_expired_token' });
    return this.#note(await this.#ask('/session/rejections', { method: 'POST', body, headers }));
  }

  /** @returns the status */
  async renew(): Promise<number> {
    const answer = await this.#ask('/session/renewal', { method: 'POST', body: '{}', headers: {} });
    await answer.arrayBuffer();
    return answer.status;
  }

  /** @returns the status */
  async decrypt(jwe: string): Promise<number> {
    const answer = await this.#ask('/payloads/decrypt', { method: 'POST', body: JSON.stringify({ jwe }), headers: {} });
    await answer.arrayBuffer();
    return answer.status;
  }

  /** @returns the status */
  async open(body: string): Promise<number> {
    const answer = await this.#ask('/notifications/open', {
      method: 'POST',
      body: JSON.stringify({ headers: {}, body }),
      headers: {},
    });
    await answer.arrayBuffer();
    return answer.status;
  }

  /** A plain read, as consumers do all day. */
  async read(headers: Record<string, string> = {}): Promise<number> {
    const response = await this.#ask('/session', { headers });
    if (response.ok) this.reads += 1;
    await response.arrayBuffer();
    return response.status;
  }

  async metrics(): Promise<string> {
    return (await fetch(`${this.managementUrl}/metrics`)).text();
  }

  control(method: string, path: string, body?: object): Promise<unknown> {
    return sandboxControl(this.#sandbox?.url ?? '', { method, path, body });
  }

  /** @returns the exit code */
  async stop(): Promise<number | null | undefined> {
    this.#process?.signal('SIGTERM');
    const code = await this.#process?.ended;
    await this.#sandbox?.close();
    await rm(this.#folder, { recursive: true, force: true });
    return code;
  }

  async #note(response: Response): Promise<{ generation: number }> {
    const session = (await response.json()) as { generation: number; authToken: string; deviceId: string };
    if (!response.ok) return session;
    this.reads += 1;
    this.#secrets.push(session.authToken, session.deviceId);
    return session;
  }

  #ask(path: string, init: RequestInit & { headers: Record<string, string> }): Promise<Response> {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', ...init.headers };
    return fetch(`${this.url}/v1/merchants/shop${path}`, { ...init, headers });
  }

  async #start(environment: Record<string, string>, { sections = '', faults = [] }: ObservedSetUp): Promise<void> {
    this.#folder = await mkdtemp(join(tmpdir(), 'session-broker-observed-'));
    const { privateJwk, publicJwk } = await generateClientKey();
    const keyFile = join(this.#folder, 'shop.jwk.json');
    await writeFile(keyFile, JSON.stringify(privateJwk), { mode: 0o600 });
    this.#secrets.push((JSON.parse(await readFile(keyFile, 'utf8')) as { d: string }).d);
    const merchants = [{ id: 'shop', serviceCode: SERVICE_CODE, publicJwk, lifetimeMs: 3_600_000 }];
    const logger = createLogger({ name: 'sandbox', level: 'error' });
    this.#sandbox = await startSandbox({ host: '127.0.0.1', port: 0, clock: new SystemClock(), logger, merchants });
    for (const fault of faults) await this.control('POST', '/faults', fault);
    const file = join(this.#folder, 'broker.yaml');
    await writeFile(file, configuration(this.#sandbox.url, sections));
    this.#process = new ProgramProcess('broker', { environment: { BROKER_CONFIG: file, ...environment } });
    const [line] = await this.#process.said(/^.*"msg":"broker started".*$/m);
    ({ url: this.url, managementUrl: this.managementUrl } = JSON.parse(line) as ObservedBroker);
  }
}

function configuration(sandboxUrl: string, sections: string): string {
  const sha256 = createHash('sha256').update(TOKEN).digest('hex');
  return `
http: { host: 127.0.0.1, port: 0 }
management: { host: 127.0.0.1, port: 0 }
log: { level: debug }
auth:
  tokens: [{ caller: checkout, sha256: "${sha256}" }]
  policies: [{ caller: checkout, merchants: [shop], allow: [session:read, session:reject, session:renew, payload:decrypt] }]
${sections}
merchants:
  - id: shop
    serviceCode: ${SERVICE_CODE}
    clientKeyFiles: [shop.jwk.json]
    gateway: { baseUrl: '${sandboxUrl}', environment: test, timeout: 60s }
`;
}
