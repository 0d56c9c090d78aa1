import { toldCall } from '#libs/causes';
import { type Clock, instantFromEpochMs, type Instant } from '#libs/clock';
import { BrokerError, storeRefusal } from '#libs/errors';
import { Cluster, Redis } from 'ioredis';
import { clusterOptions, DEFAULT_REDIS_TIMEOUTS, type RedisTimeouts, serverOptions } from './connection-profile.js';
import { addressOf, nameOf, type RedisConnection } from './redis-connection.js';
import { isUntrusted, judgeRedisError, NO_DATABASE, NOT_REDIS, type RedisVerdict } from './redis-failure.js';
import { reportingRefusedGreeting } from './redis-links.js';
import type { RedisClient } from './redis-script.js';
import { RedisKeys } from './redis-layout.js';
import { probeShard } from './redis-probe.js';
import type { RedisSessionStoreOptions } from './redis-session-store.js';

/**
 * The store could not be inspected. `store_refused`: a person has to fix rights, passwords, certificates or the address;
 * `store_unavailable`: it may pass.
 */
export class StoreInspectionFailure extends BrokerError {
  /** The code of a reply or of the system, or a few words of ours: used to choose a remedy. */
  readonly mark: string;

  /** @param place host and port, possibly followed by what was asked */
  constructor(place: string, error: unknown) {
    const { kind, reason } = judgeRedisError(error);
    const isPersons = kind === 'refuses' || reason === NOT_REDIS;
    super(isPersons ? 'store_refused' : 'store_unavailable', { detail: detailOf(place, reason) });
    this.mark = reason;
  }
}

const OF_THE_NETWORK = /^(?:E(?:CONN|HOST|NET|NOTFOUND|AI_|TIMEDOUT|PIPE)[A-Z]*|EAI_AGAIN)$/;

/** In the words that are used elsewhere for the same, if they say more than a code. */
function detailOf(place: string, reason: string): string {
  if (reason === 'ERR_SSL_WRONG_VERSION_NUMBER') return `the port speaks no TLS (${place})`;
  const known = storeRefusal(reason);
  if (known !== undefined) return `it ${known.is} (${reason} from ${place})`;
  if (reason === NO_DATABASE) return `it has ${reason} (SELECT refused by ${place})`;
  const trace = { mark: reason, peer: place };
  if (OF_THE_NETWORK.test(reason)) return toldCall({ kind: 'transient', trace }).text;
  return isUntrusted(reason) ? toldCall({ kind: 'refused', trace }).text : `${place}: ${reason}`;
}

/** What decides whether one server can be the store; absent if it is not shown to this user. */
export interface ServerFacts {
  readonly address: string;
  readonly version?: string | undefined;
  readonly role?: string | undefined;
  readonly evictionPolicy?: string | undefined;
  /** Its clock relative to ours: the true difference lies between the two. Positive: it is ahead. */
  readonly clock?: { readonly leastMs: number; readonly mostMs: number } | undefined;
  /** When the certificate that the server presented ends. */
  readonly certificateEndsAt?: Instant | undefined;
}

/** What the broker needs from Redis, as docs/redis.md grants it. */
const RIGHTS =
  '+hello +auth +select +ping +info +subscribe +publish +eval +evalsha +time +type +unlink +hstrlen +hmget +hset +hdel ' +
  '+zadd +zrange +zcard +zscore +zrem +zremrangebyscore +pexpire';
const CLUSTER_RIGHTS = '+cluster|slots +asking +readonly';

/** A line for redis-cli that grants all that the broker needs. It revokes nothing, and neither sets nor shows a password. */
export function grantingLine({ kind, credentials }: RedisConnection, keyPrefix: string): string {
  const rights = kind === 'cluster' ? `${RIGHTS} ${CLUSTER_RIGHTS}` : RIGHTS;
  return `ACL SETUSER ${credentials?.username ?? 'default'} ~${keyPrefix}:* &${keyPrefix}:* ${rights}`;
}

type RedisInspectionOptions = Omit<RedisSessionStoreOptions, 'keysOf' | 'onStateChange'>;

/** Inspects the store as the broker's own user and with the broker's own connection settings, and leaves it as it is. */
export class RedisInspection {
  readonly #options: RedisInspectionOptions;
  readonly #client: RedisClient;

  /**
   * Connects to every server that takes commands: the single one, the primary that the sentinels name, or every primary.
   * @throws StoreInspectionFailure; the caller must close what is returned
   */
  static async open(options: RedisInspectionOptions): Promise<RedisInspection> {
    const client = clientOnce(options.connection, { ...DEFAULT_REDIS_TIMEOUTS, ...options.timeouts });
    const inspection = new RedisInspection(options, client);
    let first: unknown;
    // The library reports the reason through an event, and rejects with nothing more than "closed".
    client.on('error', (error: unknown) => (first ??= error));
    await client.connect().catch((error: unknown) => (first ??= error));
    if (first === undefined) return inspection;
    inspection.close();
    throw new StoreInspectionFailure(addressOf(options.connection), first);
  }

  private constructor(options: RedisInspectionOptions, client: RedisClient) {
    this.#options = options;
    this.#client = client;
  }

  servers(): Promise<readonly ServerFacts[]> {
    const servers = this.#client instanceof Cluster ? this.#client.nodes('master') : [this.#client];
    return Promise.all(servers.map((server) => factsOf(server, this.#options.clock)));
  }

  /**
   * Does what the broker does, as its own probe does it every two seconds. It comes last: a connection that has
   * subscribed can do nothing else.
   * @returns what the first part that failed means
   */
  async refusal(): Promise<RedisVerdict | undefined> {
    const keys = new RedisKeys(this.#options.keyPrefix, this.#options.connection);
    try {
      for (const shard of keys.shards()) await probeShard(this.#client, keys, { shard, announces: true });
      await this.#client.subscribe(keys.channel);
      return undefined;
    } catch (error) {
      return judgeRedisError(error);
    }
  }

  close(): void {
    // Disconnecting a closed client would leave a timer of the library running.
    if (this.#client.status !== 'end') this.#client.disconnect();
  }
}

/** Like the broker's own, but it is never re-established by itself, and asks only what it is told to ask. */
function clientOnce(connection: RedisConnection, timeouts: RedisTimeouts): RedisClient {
  const never = (): null => null;
  const once = { lazyConnect: true, enableReadyCheck: false, retryStrategy: never, reconnectOnError: () => false };
  if (connection.kind !== 'cluster') {
    const alone = { sentinelRetryStrategy: never, failoverDetector: false };
    return reportingRefusedGreeting(new Redis({ ...serverOptions(connection, timeouts), ...once, ...alone }));
  }
  const profile = { ...clusterOptions(connection, timeouts), lazyConnect: true, clusterRetryStrategy: never };
  const redisOptions = { ...profile.redisOptions, ...once };
  return new Cluster([...connection.nodes], { ...profile, redisOptions }).on('+node', reportingRefusedGreeting);
}

/**
 * @returns the answer to a command; undefined if there is none for this user
 * @throws StoreInspectionFailure if there is no answer at all
 */
async function ask(server: Redis, command: string): Promise<unknown> {
  try {
    return await server.call(command);
  } catch (error) {
    if (error instanceof Error && error.name === 'ReplyError') return undefined;
    throw new StoreInspectionFailure(`${nameOfServer(server)}, ${command}`, error);
  }
}

/** As it is configured; one that sentinels named, as it was reached. */
function nameOfServer({ options, stream }: Redis): string {
  const { host, port } = options.sentinels ? { host: stream.remoteAddress, port: stream.remotePort } : options;
  return nameOf({ host: host ?? '', port: port ?? 0 });
}

interface MaybeEncrypted {
  readonly getPeerCertificate?: () => { readonly valid_to?: string };
}

async function factsOf(server: Redis, clock: Clock): Promise<ServerFacts> {
  const info = String(await ask(server, 'INFO'));
  const field = (name: string): string | undefined => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1];
  const askedAt = clock.now();
  const time = await ask(server, 'TIME');
  const answeredAt = clock.now();
  const [seconds = NaN, microseconds = NaN] = Array.isArray(time) ? time.map(Number) : [];
  const serverMs = seconds * 1_000 + microseconds / 1_000;
  const endsAt = Date.parse((server.stream as MaybeEncrypted).getPeerCertificate?.().valid_to ?? '');
  return {
    address: nameOfServer(server),
    version: field('redis_version'),
    role: field('role'),
    evictionPolicy: field('maxmemory_policy'),
    clock: Number.isNaN(serverMs) ? undefined : { leastMs: serverMs - answeredAt, mostMs: serverMs - askedAt },
    certificateEndsAt: Number.isNaN(endsAt) ? undefined : instantFromEpochMs(endsAt),
  };
}
