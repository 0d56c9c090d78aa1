import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '#libs/clock';
import { loadConfiguration } from '#libs/configuration';
import { generateClientKey } from '#libs/jwe';
import type { StatusDocument } from '#libs/status-page';
import { createLogger } from '#libs/telemetry';
import { freePort, startedWhole } from '#libs/testing';
import { type RunningBroker, startBroker } from '../../../apps/broker/src/broker.js';
import { startSandbox } from '../../../apps/sandbox/src/sandbox.js';
import { sandboxControl } from '../../sandbox/sandbox-control.js';

/**
 * Lifetimes: of a session that is renewed while the test watches, of one that is not, and of one whose renewal is to
 * fail.
 */
export const LIFETIMES = { shop: 4_000, steady: 900_000, kiosk: 16_000 } as const;
export const LONG_ID = `a-merchant-with-the-longest-id-that-there-can-be-${'x'.repeat(14)}`;

/** As in a document: good for a quarter of an hour from then on. */
export const aSessionFrom = (at: number): StatusDocument['merchants'][number]['session'] & {} => ({
  generation: 1,
  createdAt: at,
  renewAt: at,
  mustRenewAt: at + 800_000,
  expiresAt: at + 900_000,
});

type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

/** A broker with a status page and a sandbox, in this process; the broker can be stopped and started on the same port. */
export class ShownBroker {
  readonly serviceCodes: string[] = [];
  /** Members of the clients' private keys. */
  readonly keyParts: string[] = [];
  readonly #folder: string;
  readonly #sandbox: Sandbox;
  readonly #port: number;
  #broker: RunningBroker | undefined;

  private constructor(folder: string, sandbox: Sandbox, port: number) {
    this.#folder = folder;
    this.#sandbox = sandbox;
    this.#port = port;
  }

  static async start(): Promise<ShownBroker> {
    const folder = await mkdtemp(join(tmpdir(), 'session-broker-status-'));
    const logger = createLogger({ name: 'sandbox', level: 'error' });
    const sandbox = await startSandbox({ host: '127.0.0.1', port: 0, clock: new SystemClock(), logger, merchants: [] });
    const shown = new ShownBroker(folder, sandbox, await freePort());
    const start = async (): Promise<void> => {
      await shown.#configure();
      await shown.startBroker();
    };
    return startedWhole(shown, { start, end: () => shown.stop() });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/`;
  }

  get configurationFile(): string {
    return join(this.#folder, 'broker.yaml');
  }

  /** Includes the session's secrets: nothing of it may show. */
  async sessionOf(merchant: string): Promise<Record<string, unknown>> {
    const response = await fetch(`${this.#broker?.url}/v1/merchants/${merchant}/session`);
    return (await response.json()) as Record<string, unknown>;
  }

  async fail(merchant: string): Promise<void> {
    const body = { kind: 'error', status: 503, msgCode: 'b_server_is_overloaded', operation: 'authorize', merchant };
    await sandboxControl(this.#sandbox.url, { method: 'POST', path: '/faults', body });
  }

  async heal(): Promise<void> {
    await sandboxControl(this.#sandbox.url, { method: 'DELETE', path: '/faults' });
  }

  /** Does nothing if it is running. */
  async startBroker(): Promise<void> {
    if (this.#broker !== undefined) return;
    const configuration = await loadConfiguration(this.configurationFile, {
      environment: {},
      clock: new SystemClock(),
    });
    const logger = createLogger({ name: 'broker', level: 'error', destination: { write: () => undefined } });
    this.#broker = await startBroker({ configuration, clock: new SystemClock(), logger });
  }

  async stopBroker(): Promise<void> {
    await this.#broker?.close(1_000);
    this.#broker = undefined;
  }

  async stop(): Promise<void> {
    await this.stopBroker();
    await this.#sandbox.close();
    await rm(this.#folder, { recursive: true });
  }

  async #configure(): Promise<void> {
    const merchants = [];
    for (const [id, lifetimeMs] of Object.entries({ ...LIFETIMES, [LONG_ID]: 900_000 })) {
      const { privateJwk, publicJwk } = await generateClientKey();
      const serviceCode = `137d9304-0368-11ed-b939-0242ac12000${this.serviceCodes.length}`;
      const body = { id, serviceCode, publicJwk, lifetimeMs };
      await sandboxControl(this.#sandbox.url, { method: 'POST', path: '/merchants', body });
      await writeFile(join(this.#folder, `${id}.json`), JSON.stringify(privateJwk), { mode: 0o600 });
      this.serviceCodes.push(serviceCode);
      this.keyParts.push(...['d', 'x', 'y'].map((part) => privateJwk[part] ?? `no ${part}`));
      merchants.push({
        id,
        required: id !== 'kiosk',
        serviceCode,
        clientKeyFiles: [`${id}.json`],
        gateway: { baseUrl: this.#sandbox.url, environment: 'test', timeout: '500ms' },
        // Half of the lifetime is left to see the kiosk's renewals fail: several seconds, since a browser on a busy
        // machine may stall for some.
        session: { renewBefore: id === 'kiosk' ? '50%' : '20%', budget: [{ calls: 1_000, per: '10m' }] },
      });
    }
    const configuration = {
      http: { port: 0 },
      management: { port: this.#port },
      auth: { disabled: true },
      audit: { destination: 'none' },
      merchants,
    };
    await writeFile(this.configurationFile, JSON.stringify(configuration));
  }
}
