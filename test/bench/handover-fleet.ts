import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '#libs/clock';
import { ConfigurationSource } from '#libs/configuration';
import { generateClientKey } from '#libs/jwe';
import { createLogger } from '#libs/telemetry';
import { RedisProcess } from '#libs/testing';
import { startBroker } from '../../apps/broker/src/broker.js';
import { startSandbox } from '../../apps/sandbox/src/sandbox.js';
import { sandboxControl } from '../sandbox/sandbox-control.js';

const TOKEN = 'token-of-the-payments';
const SERVICE_CODE = '137d9304-0368-11ed-b939-0242ac120002';

export interface FleetOptions {
  readonly replicas: number;
  readonly lifetimeMs: number;
  /** As in the setting `session.handover`. */
  readonly handover: string;
  /** How long the gateway takes for a payment before it checks its session. */
  readonly paymentMs: number;
  /** How long a create call takes. */
  readonly createMs: number;
}

/** A gateway that ends the old session with each new one, and replicas of the broker that share a real Redis. */
export class HandoverFleet {
  readonly token = TOKEN;
  readonly brokerUrls: string[] = [];
  sandboxUrl = '';
  readonly #closing: (() => Promise<unknown>)[] = [];

  static async start(options: FleetOptions): Promise<HandoverFleet> {
    const fleet = new HandoverFleet();
    await fleet.#start(options);
    return fleet;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closing.splice(0).reverse()) await close();
  }

  control(method: string, path: string, body?: object): Promise<unknown> {
    return sandboxControl(this.sandboxUrl, { method, path, body });
  }

  async #start({ replicas, lifetimeMs, handover, paymentMs, createMs }: FleetOptions): Promise<void> {
    const clock = new SystemClock();
    const folder = await mkdtemp(join(tmpdir(), 'session-broker-handover-'));
    this.#closing.push(() => rm(folder, { recursive: true }));
    const redis = await RedisProcess.start();
    this.#closing.push(() => redis.stop());
    const { privateJwk, publicJwk } = await generateClientKey();
    const merchants = [{ id: 'shop', serviceCode: SERVICE_CODE, publicJwk, lifetimeMs, supersedes: true }];
    const logger = createLogger({ name: 'fleet', level: 'error' });
    const sandbox = await startSandbox({ host: '127.0.0.1', port: 0, clock, logger, merchants });
    this.sandboxUrl = sandbox.url;
    this.#closing.push(() => sandbox.close());
    await this.control('POST', '/faults', { kind: 'latency', operation: 'create-order', delayMs: paymentMs });
    await this.control('POST', '/faults', { kind: 'latency', operation: 'authorize', delayMs: createMs });
    await writeFile(join(folder, 'shop.jwk.json'), JSON.stringify(privateJwk), { mode: 0o600 });
    const file = join(folder, 'broker.yaml');
    await writeFile(file, configurationText({ sandboxUrl: sandbox.url, redisUrl: redis.url, handover }));
    for (let replica = 0; replica < replicas; replica += 1) {
      const configuration = await new ConfigurationSource(file, { environment: {}, clock }).load();
      const broker = await startBroker({ configuration, clock, logger });
      this.brokerUrls.push(broker.url);
      this.#closing.push(() => broker.close(1_000));
    }
  }
}

interface Wiring {
  readonly sandboxUrl: string;
  readonly redisUrl: string;
  readonly handover: string;
}

function configurationText({ sandboxUrl, redisUrl, handover }: Wiring): string {
  return `
http: { host: 127.0.0.1, port: 0, docs: false }
management: { host: 127.0.0.1, port: 0, statusPage: false }
store: { type: redis, url: '${redisUrl}' }
auth:
  tokens: [{ caller: payments, sha256: "${createHash('sha256').update(TOKEN).digest('hex')}" }]
  policies: [{ caller: payments, merchants: [shop], allow: [session:read, session:reject] }]
audit: { destination: none }
log: { level: error }
merchants:
  - id: shop
    serviceCode: ${SERVICE_CODE}
    clientKeyFiles: [shop.jwk.json]
    gateway: { baseUrl: '${sandboxUrl}', environment: test, timeout: 500ms, supersedes: true }
    session: { handover: ${handover}, budget: [{ calls: 1000, per: 10m }] }
`;
}
