import { hash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#libs/testing';
import { ProgramProcess } from '../e2e/program-process.js';
import type { Fleet, FleetOptions } from './fleet.js';
import type { Served } from './serving-record.js';

const TOKEN = 'token-of-the-matrix';
const IN_DIST = import.meta.dirname.includes('/dist/');

interface Member {
  readonly process: ProgramProcess;
  readonly url: string;
}

/** Replicas as separate processes, called over HTTP: they can be killed and frozen. */
export class ProcessFleet implements Fleet {
  readonly readEveryMs = 5;
  readonly #options: FleetOptions;
  readonly #members = new Map<number, Member>();
  readonly #agent = new Agent({ keepAlive: true });
  #folder: Promise<string> | undefined;
  #next = 0;

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  get inService(): readonly number[] {
    return [...this.#members.keys()];
  }

  async served(replica: number): Promise<Served | undefined> {
    const answer = await this.#ask(replica, 'GET', '/v1/merchants/shop/session');
    return answer?.status === 200 ? (JSON.parse(answer.body) as Served) : undefined;
  }

  async renewAtMs(replica: number): Promise<number | undefined> {
    const answer = await this.#ask(replica, 'GET', '/v1/merchants/shop/session');
    return answer?.status === 200 ? Date.parse((JSON.parse(answer.body) as { renewAt: string }).renewAt) : undefined;
  }

  async report(replica: number, generation: number): Promise<boolean> {
    const body = JSON.stringify({ generation, reason: 'b_previous_auth_token_expired' });
    const answer = await this.#ask(replica, 'POST', '/v1/merchants/shop/session/rejections', body);
    return answer?.status === 200;
  }

  trace(): readonly string[] {
    return this.inService.flatMap((replica) =>
      this.log(replica)
        .split('\n')
        .map((line) => `replica ${replica} ${line}`),
    );
  }

  async add(): Promise<number> {
    const index = this.#next;
    this.#next += 1;
    const port = await freePort();
    const file = await this.#configure(index, port);
    const process = new ProgramProcess('broker', {
      environment: { BROKER_CONFIG: file },
      built: new URL(IN_DIST ? '../../' : '../../dist/', import.meta.url),
    });
    await process.said(/"msg":"broker started"/);
    this.#members.set(index, { process, url: `http://127.0.0.1:${port}` });
    return index;
  }

  async kill(replica: number): Promise<void> {
    const member = this.#members.get(replica);
    this.#members.delete(replica);
    member?.process.signal('SIGKILL');
    await member?.process.ended;
  }

  signal(replica: number, name: NodeJS.Signals): void {
    this.#members.get(replica)?.process.signal(name);
  }

  /** What the replica has logged. */
  log(replica: number): string {
    return this.#members.get(replica)?.process.out ?? '';
  }

  async close(): Promise<void> {
    await Promise.all(this.inService.map((replica) => this.kill(replica)));
    this.#agent.destroy();
    if (this.#folder !== undefined) await rm(await this.#folder, { recursive: true });
  }

  /** @returns undefined if the process is gone or is ending */
  #ask(
    replica: number,
    method: string,
    ...[path, body]: [string, string?]
  ): Promise<{ status: number; body: string } | undefined> {
    const url = this.#members.get(replica)?.url;
    if (url === undefined) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
      const call = request(url + path, { method, headers, agent: this.#agent });
      call
        .on('error', () => resolve(undefined))
        .on('response', (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (part: string) => (text += part));
          response.on('error', () => resolve(undefined));
          response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
        });
      call.end(body);
    });
  }

  async #configure(index: number, port: number): Promise<string> {
    this.#folder ??= this.#prepare();
    const file = join(await this.#folder, `broker-${index}.yaml`);
    const { gatewayUrl, merchants, redis } = this.#options;
    const settings = this.#options.settings();
    const connection = await redis(index);
    if (connection.kind !== 'single') throw new Error('processes are started with one server only');
    const { host, port: redisPort } = connection.address;
    await writeFile(
      file,
      `
http: { host: 127.0.0.1, port: ${port} }
management: { host: 127.0.0.1, port: ${await freePort()} }
store: { type: redis, url: 'redis://${host}:${redisPort}/0', keyPrefix: test }
auth:
  tokens: [{ caller: checkout, sha256: ${hash('sha256', TOKEN)} }]
  policies: [{ caller: checkout, merchants: ['*'], allow: ['session:read', 'session:reject'] }]
audit: { destination: none }
log: { level: debug }
merchants:
${merchants
  .map(
    ({ id, serviceCode }) => `  - id: ${id}
    serviceCode: ${serviceCode}
    clientKeyFiles: [${id}.jwk.json]
    gateway: { baseUrl: '${gatewayUrl}', environment: test, timeout: ${settings.gatewayTimeoutMs}ms, supersedes: true }
    session: { renewBefore: 50% }
`,
  )
  .join('')}`,
    );
    return file;
  }

  async #prepare(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'session-broker-'));
    for (const { id, privateJwk } of this.#options.merchants) {
      await writeFile(join(folder, `${id}.jwk.json`), JSON.stringify(privateJwk), { mode: 0o600 });
    }
    return folder;
  }
}
