import { fail } from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually, type RedisProcess, startedWhole, TcpProxy } from '#libs/testing';
import { type ReplicaWish, WatchedReplicas } from '../observability/watched-replicas.js';
import { Fleet } from './fleet.js';
import { GatewayWitness } from './gateway-witness.js';
import { startStore, type StoreUnderFault, type Topology } from './store-under-fault.js';

const REPLICAS = 3;
/** The first session is due at half of its lifetime after the start. */
const FIRST_LIFETIME_MS = 5_000;
/** For every session after it: nothing else is due while a case is looked at. */
const LATER_LIFETIME_MS = 120_000;

export interface StageSetUp {
  readonly topology?: Topology;
  /** In addition to `shop`. */
  readonly others?: readonly string[];
  readonly firstLifetimeMs?: number;
  /** The gateway does not say when sessions end: each is renewed after half a second, and there is budget for that. */
  readonly namesNoEnd?: boolean;
  /** Each replica has its own network to Redis, which can be cut. */
  readonly networks?: boolean;
}

/** Everything that a case has: a real Redis, the gateway, replicas, and consumers of their sessions. */
export class Stage {
  readonly networks: TcpProxy[] = [];
  readonly gateway: GatewayWitness;
  readonly fleet: Fleet;
  readonly #setUp: StageSetUp;
  readonly #watched: WatchedReplicas;
  #store: StoreUnderFault | undefined;
  #endedMs: number | undefined;

  private constructor(setUp: StageSetUp, watched: WatchedReplicas) {
    this.#setUp = setUp;
    this.#watched = watched;
    this.gateway = new GatewayWitness(watched);
    this.fleet = new Fleet(watched, (replica) => this.#wish(replica));
  }

  /** Resolves once every replica hands out the first session. */
  static async start(setUp: StageSetUp): Promise<Stage> {
    const { others = [], firstLifetimeMs: lifetimeMs = FIRST_LIFETIME_MS, namesNoEnd = false } = setUp;
    const brief = namesNoEnd ? { budget: [{ calls: 1_000, per: '10m' }], fallbackLifetime: '1s' } : {};
    const session = { renewBefore: '50%', handover: '0s', ...brief };
    const usual = { lifetimeMs, timeout: '2s', supersedes: true, session };
    const merchants = ['shop', ...others].map((id) => ({ id, ...usual }));
    const stage = new Stage(setUp, await WatchedReplicas.start(merchants, [], 0));
    return startedWhole(stage, { start: () => stage.#open(), end: () => stage.close() });
  }

  async #open(): Promise<void> {
    const { topology = 'one server', namesNoEnd = false } = this.#setUp;
    this.#store = await startStore(topology, this.#watched.redis);
    if (namesNoEnd) await this.#setLifetime({ expiryFormat: 'none' });
    await this.fleet.add(REPLICAS);
    await eventually(() => this.isAgreed());
    if (!namesNoEnd) await this.renewNoMore();
  }

  /** Sessions that are created from now on live long. */
  async renewNoMore(): Promise<void> {
    await this.#setLifetime({});
  }

  async #setLifetime(more: object): Promise<void> {
    for (const id of ['shop', ...(this.#setUp.others ?? [])])
      await this.#watched.setLifetime(id, LATER_LIFETIME_MS, more);
  }

  /** The one server; in a cluster, the node with the merchant `shop`; with sentinels, the first primary. */
  get redis(): RedisProcess {
    return this.#store?.redis() ?? fail('it has not been started');
  }

  get sentinels(): NonNullable<StoreUnderFault['sentinels']> {
    return this.#store?.sentinels ?? fail('this case has no sentinels');
  }

  /** From when on everything must be as before, within a second: as soon as a case says so, or when it was played. */
  end(): number {
    return (this.#endedMs ??= Date.now());
  }

  /** Whether every replica hands out the session that the gateway accepts. */
  async isAgreed(): Promise<boolean> {
    return this.fleet.record.areOn(await this.gateway.live(), this.fleet.inService);
  }

  /** Waits until this long before the first session is due. */
  async beforeDue(byMs: number): Promise<void> {
    const served = await this.fleet.served(0);
    if (served === undefined) throw new Error('there is no session that could fall due');
    await pause(Math.max(0, Date.parse(served.renewAt) - byMs - Date.now()));
  }

  async close(): Promise<void> {
    await this.fleet.close();
    await this.#watched.stop();
    await Promise.all(this.networks.map((network) => network.close()));
    await this.#store?.stop?.();
  }

  async #wish(replica: number): Promise<ReplicaWish> {
    const { section } = this.#store ?? {};
    const sections = {
      log: { level: 'debug' },
      audit: { destination: 'none' },
      ...(section === undefined ? {} : { store: section }),
    };
    if (this.#setUp.networks !== true) return { sections };
    const network = await TcpProxy.to(this.#watched.redis.port);
    this.networks[replica] = network;
    return { sections, redisUrl: `redis://127.0.0.1:${network.address.port}/0` };
  }
}
