import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JWK } from 'jose';
import { type Clock, SystemClock } from '#libs/clock';
import { ConfigurationSource } from '#libs/configuration';
import { generateClientKey } from '#libs/jwe';
import { createLogger } from '#libs/telemetry';
import { startBroker } from '../../apps/broker/src/broker.js';
import { sealCompact } from '../../apps/sandbox/src/crypto/compact-jwe.js';
import { readPublicKey } from '../../apps/sandbox/src/crypto/ec-key.js';
import { startSandbox } from '../../apps/sandbox/src/sandbox.js';
import { sandboxControl } from '../sandbox/sandbox-control.js';
import type { Ledgered } from '../sandbox/payment-desk.js';
import { type EgressSetUp, RunningEgress } from './running-egress.js';

const SERVICE_CODE = '137d9304-0368-11ed-b939-0242ac120002';

export interface StageSetUp {
  /** Of everything, the egresses included; real time if left out. */
  readonly clock?: Clock;
  /** For the sandbox's merchant; an hour if left out: no session ends by itself while a test runs. */
  readonly lifetimeMs?: number;
  readonly supersedes?: boolean;
  /** As in the setting `session.handover`. */
  readonly handover?: string;
  /** For the sandbox. */
  readonly settings?: object;
}

/** A sandbox and a real broker in this process, with as many egresses in front of them as the test wants. */
export class EgressStage {
  sandboxUrl = '';
  brokerUrl = '';
  readonly brokerToken = `token-of-the-egress-${randomUUID()}`;
  readonly egresses: RunningEgress[] = [];
  readonly #closing: (() => Promise<unknown>)[] = [];
  #broker: Awaited<ReturnType<typeof startBroker>> | undefined;
  #clock: Clock = new SystemClock();

  static async start(setUp: StageSetUp = {}): Promise<EgressStage> {
    const stage = new EgressStage();
    await stage.#start(setUp);
    return stage;
  }

  async close(): Promise<void> {
    for (const egress of this.egresses.splice(0)) await egress.close();
    await this.closeBroker();
    for (const close of this.#closing.splice(0).reverse()) await close();
  }

  async egress(setUp: Partial<EgressSetUp> = {}): Promise<RunningEgress> {
    const broker = { url: this.brokerUrl, token: this.brokerToken };
    const egress = await RunningEgress.start({ broker, gatewayUrl: this.sandboxUrl, clock: this.#clock, ...setUp });
    this.egresses.push(egress);
    return egress;
  }

  /** Closes the broker for good. */
  async closeBroker(): Promise<void> {
    const broker = this.#broker;
    this.#broker = undefined;
    await broker?.close(500);
  }

  control(method: string, path: string, body?: object): Promise<unknown> {
    return sandboxControl(this.sandboxUrl, { method, path, body });
  }

  /** Create calls that the bank has received. */
  async createCalls(): Promise<number> {
    return ((await this.control('GET', '/calls?operation=authorize')) as { matching: number }).matching;
  }

  async ledger(query = ''): Promise<Ledgered> {
    return (await (await fetch(`${this.sandboxUrl}/_sandbox/ledger${query}`)).json()) as Ledgered;
  }

  /** The bank's key for card data. */
  async paymentKey(): Promise<JWK> {
    const response = await fetch(`${this.sandboxUrl}/_sandbox/payment-key`);
    return ((await response.json()) as { readonly jwk: JWK }).jwk;
  }

  async sealedCard(number = '4111111111111111'): Promise<string> {
    return sealCompact(number, readPublicKey(await this.paymentKey()));
  }

  async #start({
    clock = this.#clock,
    lifetimeMs = 3_600_000,
    supersedes = true,
    handover = '0s',
    settings = {},
  }: StageSetUp): Promise<void> {
    this.#clock = clock;
    const folder = await mkdtemp(join(tmpdir(), 'session-egress-stage-'));
    this.#closing.push(() => rm(folder, { recursive: true }));
    const { privateJwk, publicJwk } = await generateClientKey();
    const shop = { id: 'shop', serviceCode: SERVICE_CODE, publicJwk, lifetimeMs, supersedes, merchantId: 'terminal-1' };
    const logger = createLogger({ name: 'stage', level: 'error' });
    const sandbox = await startSandbox({ host: '127.0.0.1', port: 0, clock, logger, merchants: [shop], settings });
    this.sandboxUrl = sandbox.url;
    this.#closing.push(() => sandbox.close());
    await writeFile(join(folder, 'shop.jwk.json'), JSON.stringify(privateJwk), { mode: 0o600 });
    const file = join(folder, 'broker.yaml');
    await writeFile(file, this.#configuration(handover));
    const configuration = await new ConfigurationSource(file, { environment: {}, clock }).load();
    this.#broker = await startBroker({ configuration, clock, logger });
    this.brokerUrl = this.#broker.url;
  }

  #configuration(handover: string): string {
    const sha256 = createHash('sha256').update(this.brokerToken).digest('hex');
    return `
http: { host: 127.0.0.1, port: 0, docs: false }
management: { host: 127.0.0.1, port: 0, statusPage: false }
store: { type: memory }
auth:
  tokens: [{ caller: egress, sha256: "${sha256}" }]
  policies: [{ caller: egress, merchants: [shop], allow: [session:read, session:reject, payload:decrypt] }]
audit: { destination: none }
log: { level: error }
merchants:
  - id: shop
    serviceCode: ${SERVICE_CODE}
    clientKeyFiles: [shop.jwk.json]
    gateway: { baseUrl: '${this.sandboxUrl}', environment: test, timeout: 60s, supersedes: true }
    session: { handover: ${handover}, budget: [{ calls: 1000, per: 10m }] }
`;
  }
}
