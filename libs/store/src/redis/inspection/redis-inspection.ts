import type { Clock } from '#libs/clock';
import {
  clusterOptions,
  DEFAULT_REDIS_TIMEOUTS,
  type RedisTimeouts,
  serverOptions,
  type ServerOptions,
} from '../connection-profile.js';
import { nameOf, type RedisAddress, type RedisConnection } from '../redis-connection.js';
import { RedisKeys, shardsOf } from '../redis-layout.js';
import { CLUSTER_RIGHTS, type CommandRight, rightsOn, subscription } from './command-rights.js';
import { InspectedServer, type ServerFacts, StoreInspectionFailure } from './inspected-server.js';
import { type ClusterSlots, readClusterSlots, type SentinelView, viewOfSentinel } from './store-shape.js';

interface RedisInspectionOptions {
  readonly connection: RedisConnection;
  readonly keyPrefix: string;
  readonly clock: Clock;
  readonly timeouts?: Partial<RedisTimeouts>;
}

/** Something that the broker does but that the store's user is not allowed to do. */
export interface MissingRight {
  readonly server: string;
  readonly command: string;
  readonly lacks: 'command' | 'key' | 'channel';
  /** The key or channel, if what is missing is the right to it. */
  readonly target?: string;
}

export interface RightsFound {
  /** Commands, on each server: one that is needed on several keys counts once. */
  readonly asked: number;
  readonly missing: readonly MissingRight[];
  /** Servers that accept no writes from anybody, with the code of their refusal: `READONLY`, `OOM`, `MISCONF`, … */
  readonly unwritable: readonly { readonly server: string; readonly code: string }[];
}

export type StoreShape =
  | { readonly kind: 'single' }
  | { readonly kind: 'sentinel'; readonly sentinels: readonly SentinelView[] }
  | ({ readonly kind: 'cluster' } & ClusterSlots);

/** Inspects the store as the broker's own user and with the broker's own connection settings, and changes nothing. */
export class RedisInspection {
  readonly #options: RedisInspectionOptions;
  readonly #timeouts: RedisTimeouts;
  readonly #servers: InspectedServer[] = [];
  #shape: StoreShape = { kind: 'single' };

  /**
   * Connects to every server that accepts commands: the single one, the primary that the sentinels name, or every
   * primary.
   * @throws StoreInspectionFailure; the caller must close what is returned
   */
  static async open(options: RedisInspectionOptions): Promise<RedisInspection> {
    const inspection = new RedisInspection(options);
    try {
      await inspection.#connect();
      return inspection;
    } catch (error) {
      inspection.close();
      throw error;
    }
  }

  private constructor(options: RedisInspectionOptions) {
    this.#options = options;
    this.#timeouts = { ...DEFAULT_REDIS_TIMEOUTS, ...options.timeouts };
  }

  get shape(): StoreShape {
    return this.#shape;
  }

  servers(): Promise<readonly ServerFacts[]> {
    return Promise.all(this.#servers.map((server) => server.facts(this.#options.clock)));
  }

  /**
   * Asks for every right on the keys of these merchants, on every server; once per shard, since the keys of its
   * merchants are alike. Announcements come last: after that, the connections can do nothing else.
   */
  async rights(merchants: readonly string[]): Promise<RightsFound> {
    const { connection, keyPrefix } = this.#options;
    const keys = new RedisKeys(keyPrefix, shardsOf(connection));
    const perShard = new Map(merchants.map((merchant) => [keys.shardOf(merchant), merchant]));
    const wanted = [
      ...(connection.kind === 'cluster' ? CLUSTER_RIGHTS : []),
      ...[...perShard.values()].flatMap((merchant) => rightsOn(keys, merchant)),
      subscription(keys),
    ];
    const found = await Promise.all(this.#servers.map((server) => askAll(server, wanted)));
    return {
      asked: new Set(wanted.map(({ command }) => command)).size * this.#servers.length,
      missing: found.flatMap(({ missing }) => missing),
      unwritable: found.flatMap(({ unwritable }) => unwritable),
    };
  }

  close(): void {
    for (const server of this.#servers.splice(0)) server.close();
  }

  async #connect(): Promise<void> {
    const { connection } = this.#options;
    switch (connection.kind) {
      case 'single':
        return void (await this.#add(connection.address, serverOptions(connection, this.#timeouts)));
      case 'sentinel':
        return this.#connectSentinel(connection);
      case 'cluster':
        return this.#connectCluster(connection);
    }
  }

  /** Asks each sentinel separately, so that a wrong one among three that answer is noticed. */
  async #connectSentinel(connection: Extract<RedisConnection, { kind: 'sentinel' }>): Promise<void> {
    const sentinels = await Promise.all(
      connection.sentinels.map((address) => viewOfSentinel(connection, { address, timeouts: this.#timeouts })),
    );
    this.#shape = { kind: 'sentinel', sentinels };
    const primary = sentinels.find((view) => view.primary !== undefined)?.primary;
    if (primary === undefined) {
      throw sentinels.find((view) => view.failure !== undefined)?.failure ?? unknownPrimary(connection.name);
    }
    const { credentials, tls, database } = connection;
    const access = { ...(credentials === undefined ? {} : { credentials }), ...(tls === undefined ? {} : { tls }) };
    const asSingle = { kind: 'single', address: primary, database, ...access } as const;
    await this.#add(primary, serverOptions(asSingle, this.#timeouts));
  }

  async #connectCluster(connection: Extract<RedisConnection, { kind: 'cluster' }>): Promise<void> {
    const profile = clusterOptions(connection, this.#timeouts).redisOptions;
    const seed = await this.#firstOf(connection.nodes, profile);
    const reply = await seed.server.ask('CLUSTER', 'SLOTS');
    this.#shape = { kind: 'cluster', ...readClusterSlots(reply, seed.address) };
    for (const primary of this.#shape.primaries) {
      if (nameOf(primary) !== seed.server.name) await this.#add(primary, { ...profile, ...primary });
    }
  }

  async #firstOf(
    nodes: readonly RedisAddress[],
    profile: ServerOptions,
  ): Promise<{ readonly server: InspectedServer; readonly address: RedisAddress }> {
    let failure: unknown;
    for (const address of nodes) {
      try {
        return { server: await this.#add(address, { ...profile, ...address }), address };
      } catch (error) {
        if (!(error instanceof StoreInspectionFailure)) throw error;
        failure ??= error;
      }
    }
    throw failure;
  }

  async #add(address: RedisAddress, profile: ServerOptions): Promise<InspectedServer> {
    const server = await InspectedServer.connect(address, profile);
    this.#servers.push(server);
    return server;
  }
}

const unknownPrimary = (name: string): StoreInspectionFailure =>
  new StoreInspectionFailure(`the sentinels know no primary named ${name}`, undefined);

async function askAll(server: InspectedServer, wanted: readonly CommandRight[]): Promise<Omit<RightsFound, 'asked'>> {
  const missing = new Map<string, MissingRight>();
  const unwritable = new Map<string, { server: string; code: string }>();
  for (const { command, args, target } of wanted) {
    const reply = await server.ask(command, ...args);
    if (reply.kind === 'value') continue;
    if (reply.lacks !== undefined) {
      const on = reply.lacks === 'command' || target === undefined ? {} : { target };
      missing.set(`${command} ${on.target ?? ''}`, { server: server.name, command, lacks: reply.lacks, ...on });
    } else if (command === 'HSET' && !NO_REFUSALS.has(reply.code)) {
      unwritable.set(reply.code, { server: server.name, code: reply.code });
    }
  }
  return { missing: [...missing.values()], unwritable: [...unwritable.values()] };
}

/** In a cluster: another node has the key, and the right was granted. `ERR`: because of the operands, as intended. */
const NO_REFUSALS: ReadonlySet<string> = new Set(['MOVED', 'ASK', 'TRYAGAIN', 'ERR', 'WRONGTYPE']);
