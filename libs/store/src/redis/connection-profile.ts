import type { ClusterOptions, RedisOptions } from 'ioredis';
import { TLS_TERMS } from '#libs/tls';
import type { RedisAccess, RedisConnection } from './redis-connection.js';

/** How long anything may take. Milliseconds; the defaults suit a store in the same region. */
export interface RedisTimeouts {
  /** One command, from the call to its reply. */
  readonly commandMs: number;
  readonly connectMs: number;
  /** Silence on a connection with a reply outstanding: it is half-open, and given up. */
  readonly silenceMs: number;
}

export const DEFAULT_REDIS_TIMEOUTS: RedisTimeouts = { commandMs: 500, connectMs: 1_500, silenceMs: 2_000 };

/** `legacy`: replies have the same shape on both protocol versions. */
type ServerOptions = RedisOptions & { readonly replyMapping: 'legacy' };
type NodesOptions = ClusterOptions & { readonly redisOptions: ServerOptions };

const KEEP_ALIVE_MS = 5_000;
const FIRST_RECONNECT_MS = 50;
/** The after-effects of any fault have to be over within a second. */
const MAX_RECONNECT_MS = 500;

/** Whether a reply, or its code, is of a server that cannot do what we need: a new connection may find one that can. */
export const comesFromWrongServer = (reply: string): boolean => /^(READONLY|LOADING|MASTERDOWN)\b/.test(reply);

/** Until the next attempt to connect. Full jitter under an exponential bound: replicas do not all come back at once. */
export function reconnectDelayMs(attempt: number, random: () => number = Math.random): number {
  return Math.ceil(random() * Math.min(MAX_RECONNECT_MS, FIRST_RECONNECT_MS * 2 ** Math.min(attempt, 20)));
}

/**
 * A server that is still loading replies so to each command, while the library's ready check would hide it. That check
 * is needed only with Sentinel, where it also shows whether a primary was found.
 *
 * These are deliberate choices, not defaults: a command ends in time or fails; nothing waits for a connection and
 * nothing is sent twice, because a claim or a publication that is repeated behind our back is one that we did not
 * decide to make.
 */
function sharedOptions(timeouts: RedisTimeouts): ServerOptions {
  return {
    replyMapping: 'legacy',
    commandTimeout: timeouts.commandMs,
    connectTimeout: timeouts.connectMs,
    socketTimeout: timeouts.silenceMs,
    keepAlive: KEEP_ALIVE_MS,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    // Pending commands fail when the connection does, instead of when they time out.
    maxRetriesPerRequest: 0,
    // The probe subscribes: a failure of the library's own attempt would go unnoticed.
    autoResubscribe: false,
    disableClientInfo: true,
    // 1: reconnect and fail the command; 2 would send it again.
    reconnectOnError: (error) => (comesFromWrongServer(error.message) ? 1 : false),
  };
}

export function serverOptions(
  connection: Exclude<RedisConnection, { kind: 'cluster' }>,
  timeouts: RedisTimeouts,
): ServerOptions {
  const retryStrategy = (attempt: number): number => reconnectDelayMs(attempt);
  const common = { ...sharedOptions(timeouts), ...accessOptions(connection), retryStrategy };
  if (connection.kind === 'single') {
    return { ...common, ...connection.address, db: connection.database, enableReadyCheck: false };
  }
  return {
    ...common,
    sentinels: connection.sentinels.map((address) => ({ ...address })),
    name: connection.name,
    role: 'master',
    enableTLSForSentinelMode: connection.tls !== undefined,
    failoverDetector: true,
    updateSentinels: true,
    sentinelCommandTimeout: timeouts.commandMs,
    sentinelRetryStrategy: retryStrategy,
    sentinelReconnectStrategy: retryStrategy,
  };
}

export function clusterOptions(
  connection: Extract<RedisConnection, { kind: 'cluster' }>,
  timeouts: RedisTimeouts,
): NodesOptions {
  return {
    // Connected before the first command needs it: a second command would find it half connected, and be refused.
    redisOptions: {
      ...sharedOptions(timeouts),
      ...accessOptions(connection),
      lazyConnect: false,
      enableReadyCheck: false,
    },
    enableOfflineQueue: false,
    // The library's check asks a node that may be half connected, and then starts all over; our probe asks every shard.
    enableReadyCheck: false,
    clusterRetryStrategy: (attempt) => reconnectDelayMs(attempt),
    // A command that was in flight when its node went away may have been executed: never sent again.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    maxRedirections: 5,
    slotsRefreshTimeout: timeouts.connectMs,
    slotsRefreshInterval: 10_000,
    // Host names are not resolved here, so that TLS verifies the configured names.
    dnsLookup: (address, callback) => callback(null, address),
  };
}

function accessOptions({ credentials, tls }: RedisAccess): Pick<RedisOptions, 'username' | 'password' | 'tls'> {
  // Set explicitly: the default would obey NODE_TLS_REJECT_UNAUTHORIZED=0.
  return { ...credentials, ...(tls && { tls: { ...tls, rejectUnauthorized: true, ...TLS_TERMS } }) };
}
