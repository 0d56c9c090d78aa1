import { setTimeout as pause } from 'node:timers/promises';
import { SystemClock } from '#libs/clock';
import type { RedisConnection } from '#libs/store';
import { eventually, TcpProxy } from '#libs/testing';
import { Consumers } from './consumers.js';
import type { Fleet, MatrixSettings } from './fleet.js';
import { GatewayWitness } from './gateway-witness.js';
import { LocalFleet } from './local-fleet.js';
import { matrixMerchant } from './matrix-merchant.js';
import { ProcessFleet } from './process-fleet.js';
import { type FaultWindow, ServingRecord } from './serving-record.js';
import { StoreUnderFault, type Topology } from './store-under-fault.js';
import { wallMs } from './wall-clock.js';

const REPLICAS = 3;
/** The first session is due at half of its lifetime after the start. */
const FIRST_LIFETIME_MS = 5_000;
/** For every session after it: nothing else is due while a case is looked at. */
const LATER_LIFETIME_MS = 120_000;

const USUAL_SETTINGS: MatrixSettings = {
  gatewayTimeoutMs: 1_000,
  budget: [{ calls: 20, perMs: 600_000 }],
  fallbackLifetimeMs: LATER_LIFETIME_MS,
};

export interface StageSetUp {
  readonly topology?: Topology;
  /** Replicas are separate processes. */
  readonly processes?: boolean;
  /** In addition to `shop`. */
  readonly others?: readonly string[];
  readonly firstLifetimeMs?: number;
  readonly settings?: Partial<MatrixSettings>;
  /** The gateway does not say when sessions end; they live for the broker's `fallbackLifetimeMs`. */
  readonly namesNoEnd?: boolean;
  /** Each replica has its own network to Redis, which can be cut. */
  readonly networks?: boolean;
}

/** Everything that a case has: a real Redis, the gateway, replicas, and consumers that present what they get. */
export class Stage {
  readonly record = new ServingRecord();
  readonly networks: TcpProxy[] = [];
  readonly store: StoreUnderFault;
  readonly gateway: GatewayWitness;
  readonly fleet: Fleet;
  /** How the merchants are configured from now on. */
  settings: MatrixSettings;
  readonly #consumers: Consumers;
  readonly #closing: (() => Promise<void>)[] = [];
  #beganMs: number | undefined;
  #endedMs: number | undefined;

  private constructor(setUp: StageSetUp, parts: { store: StoreUnderFault; gateway: GatewayWitness; fleet: Fleet }) {
    this.settings = { ...USUAL_SETTINGS, ...setUp.settings };
    this.store = parts.store;
    this.gateway = parts.gateway;
    this.fleet = parts.fleet;
    const { fleet, record } = this;
    this.#consumers = new Consumers({ fleet, record, gatewayUrl: this.gateway.url });
  }

  /** Resolves once every replica hands out the first session. */
  static async start(setUp: StageSetUp): Promise<Stage> {
    const merchants = await Promise.all(['shop', ...(setUp.others ?? [])].map(matrixMerchant));
    const store = await StoreUnderFault.start(setUp.topology ?? 'one server');
    const more = setUp.namesNoEnd === true ? { expiryFormat: 'none' } : {};
    const gateway = await GatewayWitness.start({ merchants, more, clock: new SystemClock() });
    await gateway.setLifetime(setUp.firstLifetimeMs ?? FIRST_LIFETIME_MS);
    const networks: TcpProxy[] = [];
    const options = {
      merchants,
      gatewayUrl: gateway.url,
      redis: (replica: number) => connectionOf({ setUp, store, networks }, replica),
      settings: () => stage.settings,
    };
    const fleet = setUp.processes === true ? new ProcessFleet(options) : new LocalFleet(options);
    const stage: Stage = new Stage(setUp, { store, gateway, fleet });
    stage.#closing.push(
      () => stage.#consumers.close(),
      () => fleet.close(),
      () => gateway.close(),
      async () => void (await Promise.all(networks.map((network) => network.close()))),
      () => store.stop(),
    );
    try {
      await stage.#open(networks);
    } catch (error) {
      await stage.close();
      throw error;
    }
    return stage;
  }

  async #open(networks: readonly TcpProxy[]): Promise<void> {
    await Promise.all(Array.from({ length: REPLICAS }, () => this.fleet.add()));
    this.networks.push(...networks);
    this.#consumers.join();
    await eventually(() => this.isAgreed());
    await this.gateway.setLifetime(LATER_LIFETIME_MS);
  }

  get processes(): ProcessFleet {
    if (this.fleet instanceof ProcessFleet) return this.fleet;
    throw new Error('the replicas of this case are no processes');
  }

  get fault(): FaultWindow {
    const now = wallMs();
    return { beganMs: this.#beganMs ?? now, endedMs: this.#endedMs ?? now };
  }

  /** Marks the moment from which something is wrong. */
  begin(): void {
    this.#beganMs ??= wallMs();
  }

  /** Marks the moment from which everything must be as before, within a second. */
  end(): void {
    this.#endedMs = wallMs();
  }

  /** One more replica, with its own consumer. */
  async add(): Promise<void> {
    await this.fleet.add();
    this.#consumers.join();
  }

  /** Whether every replica hands out the session that the gateway accepts. */
  async isAgreed(): Promise<boolean> {
    return this.record.areOn(await this.gateway.live('shop'), this.fleet.inService);
  }

  /** Waits until this long before the first session is due. */
  async beforeDue(byMs: number): Promise<void> {
    const renewAtMs = await this.fleet.renewAtMs(this.fleet.inService[0] ?? 0);
    if (renewAtMs === undefined) throw new Error('there is no session that could fall due');
    await pause(Math.max(0, renewAtMs - byMs - wallMs()));
  }

  /**
   * Holds the next create call at the gateway, before it is carried out.
   * @returns once it is there: how to release it
   */
  async stallCall(at: 'arrival' | 'answer' = 'arrival'): Promise<() => Promise<void>> {
    const calls = (await this.gateway.createCalls()).length;
    const id = await this.gateway.fault({ kind: 'hold', times: 1, at, merchant: 'shop' });
    await this.gateway.arrived(calls + 1);
    return async () => void (await this.gateway.control('DELETE', `/faults/${id}`));
  }

  async close(): Promise<void> {
    for (const close of this.#closing) await close();
  }
}

async function connectionOf(
  { setUp, store, networks }: { setUp: StageSetUp; store: StoreUnderFault; networks: TcpProxy[] },
  replica: number,
): Promise<RedisConnection> {
  const connection = store.connection;
  if (connection.kind !== 'single' || setUp.networks !== true) return connection;
  const network = await TcpProxy.to(connection.address.port);
  networks[replica] = network;
  return { ...connection, address: network.address };
}
