import { toldCall } from '#libs/causes';
import { type Clock, instantFromEpochMs, type Instant } from '#libs/clock';
import { BrokerError, storeRefusal } from '#libs/errors';
import { Cluster, Redis } from 'ioredis';
import { clusterOptions, DEFAULT_REDIS_TIMEOUTS, type RedisTimeouts, serverOptions } from '../connection-profile.js';
import { addressOf, nameOf, type RedisConnection } from '../redis-connection.js';
import { describeRedisError, isUntrusted, judgeRedisError, NO_DATABASE, NOT_REDIS } from '../redis-failure.js';
import { reportingRefusedGreeting } from '../redis-links.js';
import type { RedisClient } from '../redis-script.js';
import { rightsFor } from './command-rights.js';

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
    const isPersons = kind === 'refused' || reason === NOT_REDIS;
    super(isPersons ? 'store_refused' : 'store_unavailable', { detail: detailOf(place, reason) });
    this.mark = reason;
  }
}

const OF_THE_NETWORK = /^(?:E(?:CONN|HOST|NET|NOTFOUND|AI_|TIMEDOUT|PIPE)[A-Z]*|EAI_AGAIN)$/;

/** In the words that are used elsewhere for the same, if they say more than a code. */
function detailOf(place: string, reason: string): string {
  if (reason === 'ERR_SSL_WRONG_VERSION_NUMBER') return `no TLS is spoken there (${place})`;
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

/** Something that the broker does but that the store's user is not allowed to do. */
export interface MissingRight {
  readonly server: string;
  readonly command: string;
  /** The right to the command, to a key that it is needed on, or to the channel. */
  readonly lacks: 'command' | 'key' | 'channel';
}

export interface RightsFound {
  /** Commands, on each server: one that is needed on several keys counts once. */
  readonly asked: number;
  readonly missing: readonly MissingRight[];
  /** Servers that accept no writes from anybody, with the code of their refusal: `READONLY`, `OOM`, `MISCONF`, … */
  readonly unwritable: readonly { readonly server: string; readonly code: string }[];
}

interface RedisInspectionOptions {
  readonly connection: RedisConnection;
  readonly keyPrefix: string;
  readonly clock: Clock;
  readonly timeouts?: Partial<RedisTimeouts>;
}

/** In a cluster: another node has the key, and the right was granted. `ERR`: because of the operands, as intended. */
const NO_REFUSALS: ReadonlySet<string> = new Set(['MOVED', 'ASK', 'TRYAGAIN', 'ERR', 'WRONGTYPE']);

/** Inspects the store as the broker's own user and with the broker's own connection settings, and changes nothing. */
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
    return Promise.all(this.#servers().map((server) => factsOf(server, this.#options.clock)));
  }

  /** Asks every server for every right on the keys of these merchants. The last: connections are of no use after it. */
  async rights(merchants: readonly string[]): Promise<RightsFound> {
    const wanted = rightsFor(this.#options.connection, this.#options.keyPrefix, merchants);
    const missing: MissingRight[] = [];
    const unwritable = new Map<string, string>();
    const askAll = async (redis: Redis): Promise<void> => {
      const server = nameOfServer(redis);
      for (const [command, ...operands] of wanted) {
        const reply = await ask(redis, command, ...operands);
        if (reply.kind === 'value') continue;
        if (reply.lacks !== undefined) missing.push({ server, command, lacks: reply.lacks });
        else if (command === 'HSET' && !NO_REFUSALS.has(reply.code)) unwritable.set(server, reply.code);
      }
    };
    await Promise.all(this.#servers().map(askAll));
    const asked = new Set(wanted.map(([command]) => command)).size * this.#servers().length;
    return { asked, missing, unwritable: Array.from(unwritable, ([server, code]) => ({ server, code })) };
  }

  close(): void {
    // Disconnecting a closed client would leave a timer of the library running.
    if (this.#client.status !== 'end') this.#client.disconnect();
  }

  #servers(): readonly Redis[] {
    return this.#client instanceof Cluster ? this.#client.nodes('master') : [this.#client];
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

/** The answer to a command; an error only by its code (`NOPERM`, `MOVED`, …) and what it is about. */
type Reply =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'error'; readonly code: string; readonly lacks: MissingRight['lacks'] | undefined };

/** @throws StoreInspectionFailure if there is no answer at all; an error reply is an answer */
async function ask(server: Redis, command: string, ...args: readonly string[]): Promise<Reply> {
  try {
    return { kind: 'value', value: await server.call(command, ...args) };
  } catch (error) {
    const isReply = error instanceof Error && error.name === 'ReplyError';
    if (!isReply) throw new StoreInspectionFailure(`${nameOfServer(server)}, ${command}`, error);
    return { kind: 'error', code: describeRedisError(error), lacks: lackIn(error) };
  }
}

function lackIn({ message }: Error): MissingRight['lacks'] | undefined {
  if (!message.startsWith('NOPERM')) return undefined;
  if (/\bchannels?\b/i.test(message)) return 'channel';
  return /\bkeys?\b/i.test(message) ? 'key' : 'command';
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
  const info = await ask(server, 'INFO');
  const field = (name: string): string | undefined =>
    info.kind === 'value' ? new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(String(info.value))?.[1] : undefined;
  const askedAt = clock.now();
  const time = await ask(server, 'TIME');
  const answeredAt = clock.now();
  const [seconds, microseconds] = (time.kind === 'value' ? (time.value as unknown[]) : []).map(Number);
  const serverMs = (seconds ?? NaN) * 1_000 + (microseconds ?? NaN) / 1_000;
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
