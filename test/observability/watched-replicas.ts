import { fail } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '#libs/clock';
import { generateClientKey } from '#libs/jwe';
import { createLogger } from '#libs/telemetry';
import { eventually, freePort, RedisProcess, startedWhole } from '#libs/testing';
import { startSandbox } from '../../apps/sandbox/src/sandbox.js';
import { CliProcess } from '../e2e/cli-process.js';
import { ProgramProcess } from '../e2e/program-process.js';
import { sandboxControl } from '../sandbox/sandbox-control.js';

export const TOKEN = 'token-of-the-watched';
const TIMEOUT = '500ms';

export interface WatchedMerchant {
  readonly id: string;
  readonly lifetimeMs: number;
  /** Whether a new session ends the one before it. */
  readonly supersedes?: boolean;
  /** For one create call; half a second by default. */
  readonly timeout?: string;
  /** Its section of this name; empty by default. */
  readonly session?: Readonly<Record<string, unknown>>;
  /** Whether a replica is ready only with a session of this merchant; not by default. */
  readonly required?: boolean;
  /** Its client key; one that is made if left out. */
  readonly privateJwk?: Readonly<Record<string, string>>;
  /** The content of its key files, newest first; the key itself if left out. */
  readonly keyFiles?: readonly string[];
}

export interface ReplicaWish {
  /** Where it finds Redis; Redis itself by default. */
  readonly redisUrl?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Further sections of its configuration. */
  readonly sections?: Readonly<Record<string, unknown>>;
  /** Of which version it is: the folder with its built programs, this checkout's by default. */
  readonly built?: URL;
}

export interface Replica {
  readonly process: ProgramProcess;
  readonly url: string;
  readonly management: string;
  /** Its configuration file. */
  readonly file: string;
}

/** Replicas as separate processes, with a real Redis unless one is alone, in front of a sandbox in this process. */
export class WatchedReplicas {
  readonly replicas: Replica[] = [];
  /** The private keys of the merchants, in their order. */
  readonly privateJwks: Readonly<Record<string, string>>[] = [];
  readonly #redis: RedisProcess | undefined;
  readonly #folder: string;
  #merchants: readonly WatchedMerchant[] = [];
  #played: readonly { readonly id: string }[] = [];
  #sandbox: Awaited<ReturnType<typeof startSandbox>> | undefined;

  private constructor(folder: string, redis: RedisProcess | undefined) {
    this.#folder = folder;
    this.#redis = redis;
  }

  static async start(
    merchants: readonly WatchedMerchant[],
    faults: readonly object[],
    replicas: number,
  ): Promise<WatchedReplicas> {
    const watched = new WatchedReplicas(await newFolder(), await RedisProcess.start());
    const start = async (): Promise<void> => {
      await watched.#start(merchants, faults);
      for (let number = 0; number < replicas; number += 1) await watched.launch().then(untilStarted);
    };
    return startedWhole(watched, { start, end: () => watched.stop() });
  }

  /** One replica that shares its sessions with nobody, once it is ready. */
  static async alone(
    merchants: readonly WatchedMerchant[],
    { faults = [], ...wish }: ReplicaWish & { readonly faults?: readonly object[] },
  ): Promise<WatchedReplicas> {
    const watched = new WatchedReplicas(await newFolder(), undefined);
    const start = async (): Promise<void> => {
      await watched.#start(merchants, faults);
      await watched.add(wish);
    };
    return startedWhole(watched, { start, end: () => watched.stop() });
  }

  /** @throws Error if there is one replica alone */
  get redis(): RedisProcess {
    return this.#redis ?? fail('it shares nothing');
  }

  get targets(): string[] {
    return this.replicas.map(({ management }) => management);
  }

  control(method: string, path: string, body?: object): Promise<unknown> {
    return sandboxControl(this.#sandbox?.url ?? '', { method, path, body });
  }

  async reject(merchant: string, generation: number, replica = this.replicas[0]): Promise<number> {
    const init = { method: 'POST', body: JSON.stringify({ generation, reason: 'b_used_token' }) };
    return (await this.ask(merchant, '/session/rejections', init, replica)).status;
  }

  /** Runs the command line as somebody who may do everything here. */
  async cli(...args: readonly string[]): Promise<{ readonly code: number | null; readonly out: string }> {
    const cli = new CliProcess(args, { BROKER_TOKEN_FILE: join(this.#folder, 'token') });
    const code = await cli.ended;
    return { code, out: cli.out };
  }

  /** How long sessions live that the gateway creates from now on. */
  async setLifetime(merchant: string, lifetimeMs: number, more: object = {}): Promise<void> {
    const played = this.#played.find(({ id }) => id === merchant);
    await this.control('POST', '/merchants', { ...played, lifetimeMs, ...more });
  }

  /** A person has this replica create a session. @returns what came of it: `just_renewed` if there is a young one */
  async renew(replica: Replica, merchant: string): Promise<string> {
    const answer = await this.ask(merchant, '/session/renewal', { method: 'POST' }, replica);
    if (!answer.ok) throw new Error(`the renewal was answered ${answer.status}: ${await answer.text()}`);
    return ((await answer.json()) as { readonly result: string }).result;
  }

  async generationOf(merchant: string): Promise<number> {
    const response = await this.ask(merchant, '/session', {});
    return ((await response.json()) as { generation: number }).generation;
  }

  get sandboxUrl(): string {
    return this.#sandbox?.url ?? '';
  }

  /** One more replica, ready to serve. */
  async add(wish: ReplicaWish = {}): Promise<Replica> {
    const replica = await this.launch(wish).then(untilStarted);
    await eventually(async () => (await fetch(`http://${replica.management}/readyz`)).ok);
    return replica;
  }

  /** One more replica, however far its start has got. */
  async launch({
    redisUrl = this.#redis?.url,
    environment = {},
    sections,
    ...program
  }: ReplicaWish = {}): Promise<Replica> {
    const [port, management] = [await freePort(), await freePort()];
    const file = join(this.#folder, `broker-${port}.yaml`);
    const sha256 = createHash('sha256').update(TOKEN).digest('hex');
    const configuration = {
      http: { host: '127.0.0.1', port },
      management: { host: '127.0.0.1', port: management },
      ...(redisUrl === undefined ? {} : { store: { type: 'redis', url: redisUrl } }),
      ...sections,
      auth: {
        tokens: [{ caller: 'all', sha256 }],
        policies: [
          {
            caller: 'all',
            merchants: ['*'],
            allow: ['session:read', 'session:reject', 'session:renew', 'payload:decrypt'],
          },
        ],
      },
      merchants: this.#merchants.map(
        ({ id, keyFiles = [''], session = {}, required = false, timeout = TIMEOUT }, index) => ({
          ...{ id, required, session, serviceCode: serviceCodeOf(index) },
          clientKeyFiles: keyFiles.map((_content, number) => `${id}-${number}.json`),
          gateway: { baseUrl: this.#sandbox?.url, environment: 'test', timeout },
        }),
      ),
    };
    await writeFile(file, JSON.stringify(configuration));
    const process = new ProgramProcess('broker', { environment: { BROKER_CONFIG: file, ...environment }, ...program });
    const replica = { process, url: `http://127.0.0.1:${port}`, management: `127.0.0.1:${management}`, file };
    this.replicas.push(replica);
    return replica;
  }

  async end(replica: number): Promise<void> {
    this.replicas[replica]?.process.signal('SIGKILL');
    await this.replicas[replica]?.process.ended;
  }

  /** One that has ended starts again, where it was. */
  async restart(number: number): Promise<void> {
    const replica = this.replicas[number];
    if (replica === undefined) throw new Error(`there is no replica ${number}`);
    const process = new ProgramProcess('broker', { environment: { BROKER_CONFIG: replica.file } });
    this.replicas[number] = await untilStarted({ ...replica, process });
  }

  /** Create calls that the gateway has received, answered or not. */
  async createCalls(): Promise<number> {
    const calls = await this.control('GET', '/calls?operation=authorize&until=arrived');
    return (calls as { matching: number }).matching;
  }

  /** Makes the gateway hold the next create call, at this moment of it. @returns what lets it go on */
  async holdNextCreateCall(at: 'arrival' | 'answer' = 'arrival'): Promise<() => Promise<unknown>> {
    const fault = { kind: 'hold', operation: 'authorize', times: 1, at };
    const { id } = (await this.control('POST', '/faults', fault)) as { id: string };
    return () => this.control('POST', `/faults/${id}/release`);
  }

  /** Resolves once the gateway has received so many create calls in all, answered or not. */
  createCallsArrived(calls: number): Promise<unknown> {
    return this.control('GET', `/calls?operation=authorize&until=arrived&waitFor=${calls}&timeoutMs=60000`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async stop(): Promise<void> {
    for (const { process } of this.replicas) {
      process.signal('SIGKILL');
      await process.ended;
    }
    await this.#sandbox?.close();
    await this.#redis?.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** @returns the answer of a path below the merchant */
  ask(
    merchant: string,
    path: string,
    ...[init, replica = this.replicas[0]]: [
      RequestInit & { readonly headers?: Readonly<Record<string, string>> },
      Replica?,
    ]
  ): Promise<Response> {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    return fetch(`${replica?.url}/v1/merchants/${merchant}${path}`, {
      ...init,
      headers: { ...headers, ...init.headers },
    });
  }

  async #start(merchants: readonly WatchedMerchant[], faults: readonly object[]): Promise<void> {
    this.#merchants = merchants;
    await writeFile(join(this.#folder, 'token'), `${TOKEN}\n`, { mode: 0o600 });
    const played = [];
    for (const [index, { id, lifetimeMs, supersedes = false, ...own }] of merchants.entries()) {
      const privateJwk = own.privateJwk ?? (await generateClientKey()).privateJwk;
      const { d: _private, ...publicJwk } = privateJwk;
      this.privateJwks.push(privateJwk);
      for (const [number, content] of (own.keyFiles ?? [JSON.stringify(privateJwk)]).entries())
        await writeFile(join(this.#folder, `${id}-${number}.json`), content, { mode: 0o600 });
      played.push({ id, serviceCode: serviceCodeOf(index), publicJwk, lifetimeMs, supersedes });
    }
    this.#played = played;
    const logger = createLogger({ name: 'sandbox', level: 'error' });
    this.#sandbox = await startSandbox({
      host: '127.0.0.1',
      port: 0,
      clock: new SystemClock(),
      logger,
      merchants: played,
    });
    for (const fault of faults) await this.control('POST', '/faults', fault);
  }
}

/** @returns the generation that this replica serves, or undefined if it serves none */
export async function servedBy({ url }: Replica, merchant: string): Promise<number | undefined> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const response = await fetch(`${url}/v1/merchants/${merchant}/session`, { headers });
  return response.ok ? ((await response.json()) as { generation: number }).generation : undefined;
}

const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'session-broker-watched-'));

export async function untilStarted(replica: Replica): Promise<Replica> {
  await replica.process.said(/"msg":"broker started"/);
  return replica;
}

export function serviceCodeOf(index: number): string {
  return `137d9304-0368-11ed-b939-0242ac12${String(index).padStart(4, '0')}`;
}
