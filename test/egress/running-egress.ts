import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, SystemClock } from '#libs/clock';
import type { EgressClient, EgressConfiguration, EgressRoute, HttpTls } from '#libs/configuration';
import { generateClientKey, importClientKey, importPaymentKey } from '#libs/jwe';
import { createLogger, type Telemetry } from '#libs/telemetry';
import { PATIENT_CALL_MS } from '#libs/testing';
import { startEgress } from '../../apps/egress/src/egress.js';
import { generateKeyPair, type KeyPair } from '../../apps/sandbox/src/crypto/ec-key.js';
import { AliasCaller, type Caller, PlainCaller } from './callers.js';

/** One client of an egress, with everything it holds. */
export interface ClientWish {
  readonly name: string;
  readonly merchant: string;
  readonly token: string;
  readonly serviceCode: string;
  readonly key: KeyPair;
  /** The name in its certificate. */
  readonly certificate?: string;
}

export const aClient = (name = 'shop', merchant = 'shop'): ClientWish => ({
  name,
  merchant,
  token: `token-of-${name}-${randomUUID()}`,
  serviceCode: randomUUID(),
  key: generateKeyPair(),
});

export const MAX_BODY_BYTES = 65_536;
const ROUTES: readonly EgressRoute[] = [
  { path: '/ecom/execute_request/hpp/**', body: 'clear', encrypted: [], maxBytes: MAX_BODY_BYTES },
  {
    path: '/ecom/execute_request/**',
    body: 'sealed',
    encrypted: [],
    maxBytes: MAX_BODY_BYTES,
  },
];

export interface EgressSetUp {
  readonly clock?: Clock;
  readonly broker: { readonly url: string; readonly token: string };
  readonly gatewayUrl: string;
  readonly clients?: readonly ClientWish[];
  readonly timeoutMs?: number;
  readonly gatewayCa?: string;
  readonly listenTls?: HttpTls;
  /** Its own certificate for the broker, in place of the token. */
  readonly brokerTls?: EgressConfiguration['broker']['tls'];
  readonly routes?: readonly EgressRoute[];
  readonly connections?: { readonly max: number; readonly perAddress: number };
  readonly telemetry?: Telemetry;
  /** Where its audit goes; nowhere by default. */
  readonly audit?: string;
}

/** An egress in this process, on a free port, with one client unless the test wants others. */
export class RunningEgress {
  readonly lines: string[] = [];
  url = '';
  managementUrl = '';
  readonly clients: readonly ClientWish[];
  readonly #folder: string;
  #close: () => Promise<void> = () => Promise.resolve();
  #reload: () => Promise<void> = () => Promise.resolve();
  /** The content of its files. */
  #written: EgressConfiguration | Error | undefined;

  private constructor(folder: string, clients: readonly ClientWish[]) {
    this.#folder = folder;
    this.clients = clients;
  }

  static async start(setUp: EgressSetUp): Promise<RunningEgress> {
    const folder = await mkdtemp(join(tmpdir(), 'session-egress-'));
    const running = new RunningEgress(folder, setUp.clients ?? [aClient()]);
    await running.#start(setUp);
    return running;
  }

  async close(): Promise<void> {
    await this.#close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  client(name = 'shop'): ClientWish {
    const found = this.clients.find((client) => client.name === name);
    if (found === undefined) throw new Error(`there is no client ${name}`);
    return found;
  }

  plain(name?: string): PlainCaller {
    return new PlainCaller(this.url, this.client(name).token);
  }

  alias(name?: string): AliasCaller {
    const { serviceCode, key } = this.client(name);
    return new AliasCaller(this.url, { serviceCode, key });
  }

  /** One client of each form. */
  callers(): readonly Caller[] {
    return [this.plain(), this.alias()];
  }

  /** Writes another configuration and has it read; an error stands for a faulty one. */
  async reconfigure(change: (written: EgressConfiguration) => EgressConfiguration | Error): Promise<void> {
    if (this.#written === undefined || this.#written instanceof Error) throw new Error('there is nothing to change');
    const before = this.#written;
    this.#written = change(before);
    await this.#reload();
    if (this.#written instanceof Error) this.#written = before;
  }

  async metrics(): Promise<string> {
    return (await fetch(`${this.managementUrl}/metrics`)).text();
  }

  async #start({
    broker,
    gatewayUrl,
    clock = new SystemClock(),
    timeoutMs = PATIENT_CALL_MS,
    ...given
  }: EgressSetUp): Promise<void> {
    const tokenFile = join(this.#folder, 'broker-token');
    await writeFile(tokenFile, broker.token, { mode: 0o600 });
    const free = { host: '127.0.0.1', port: 0 };
    const configuration: EgressConfiguration = {
      listen: {
        ...free,
        connections: given.connections ?? { max: 4_096, perAddress: 3_072 },
        ...(given.listenTls === undefined ? {} : { tls: given.listenTls }),
      },
      management: { ...free, hosts: [] },
      broker: { url: new URL(broker.url), ...(given.brokerTls ? { tls: given.brokerTls } : { tokenFile, tls: {} }) },
      gateway: {
        baseUrl: new URL(gatewayUrl),
        environment: 'test',
        timeoutMs,
        passedHeaders: [],
        tls: { pins: [], ...(given.gatewayCa === undefined ? {} : { ca: given.gatewayCa }) },
      },
      aliasKeys: [await importClientKey((await generateClientKey()).privateJwk)],
      clients: await Promise.all(this.clients.map(configured)),
      routes: given.routes ?? ROUTES,
      audit: { destination: given.audit ?? 'none' },
      reload: { watch: false, everyMs: 60_000, maxRemoved: 10 },
      log: { level: 'debug' },
      files: [],
      certificates: [],
      warnings: [],
    };
    const destination = { write: (line: string) => void this.lines.push(line) };
    const logger = createLogger({ name: 'egress', level: 'debug', clock, destination });
    this.#written = configuration;
    const load = (): Promise<EgressConfiguration> =>
      this.#written instanceof Error ? Promise.reject(this.#written) : Promise.resolve(this.#written ?? configuration);
    const egress = await startEgress({
      configuration,
      source: { load, stamp: () => Promise.resolve('same'), loadedStamp: 'same' },
      clock,
      logger,
      ...(given.telemetry === undefined ? {} : { telemetry: given.telemetry }),
    });
    this.url = egress.url;
    this.managementUrl = egress.managementUrl;
    this.#close = () => egress.close();
    this.#reload = () => egress.reload();
  }
}

/** A client as in the egress's configuration. */
export async function configured({ token, serviceCode, key, ...named }: ClientWish): Promise<EgressClient> {
  return {
    ...named,
    tokenDigests: [createHash('sha256').update(token).digest('hex')],
    alias: { serviceCode, publicKey: await importPaymentKey(key.jwk) },
  };
}
