import { Alarm, type Clock } from '#libs/clock';
import { Cluster, Redis } from 'ioredis';
import {
  clusterOptions,
  comesFromWrongServer,
  reconnectDelayMs,
  type RedisTimeouts,
  serverOptions,
} from './connection-profile.js';
import type { RedisConnection } from './redis-connection.js';
import { judgeRedisError, type RedisVerdict, WITHOUT_CONNECTION } from './redis-failure.js';
import type { RedisClient } from './redis-script.js';

interface RedisLinksOptions {
  readonly connection: RedisConnection;
  readonly timeouts: RedisTimeouts;
  readonly clock: Clock;
  /** Every link is connected, or a node of the cluster has gone: time for a probe. */
  readonly onChanged: () => void;
  /** Called for each attempt that fails, and whenever a connection ends. */
  readonly onLost: () => void;
}

const CLOSED: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', ...WITHOUT_CONNECTION]);

/** The part of a cluster client that subscribes. */
interface ClusterListener {
  readonly getInstance: () => Redis | null;
}

/**
 * The connections of one replica: one for commands and one only for announcements, so that neither holds up the other.
 * The client library reconnects them; where it has given up, it is restarted here.
 */
export class RedisLinks {
  readonly commands: RedisClient;
  readonly #subscriber: RedisClient;
  readonly #options: RedisLinksOptions;
  readonly #closers: (() => void)[] = [];
  /** Why there is no connection: commands only learn that there is none. */
  readonly #lastFailures = new Map<RedisClient, RedisVerdict>();
  /** The connection on which announcements arrive. */
  #listeningOn: object | undefined;

  constructor(options: RedisLinksOptions) {
    this.#options = options;
    const { connection, timeouts } = options;
    if (connection.kind === 'cluster') {
      const nodes = [...connection.nodes];
      const profile = clusterOptions(connection, timeouts);
      this.commands = this.#followCluster(new Cluster(nodes, profile));
      // It subscribes on a connection of its own, so those to the other nodes can stay closed.
      const redisOptions = { ...profile.redisOptions, lazyConnect: true };
      this.#subscriber = new Cluster(nodes, { ...profile, redisOptions });
    } else {
      this.commands = reportingRefusedGreeting(new Redis(serverOptions(connection, timeouts)));
      this.#subscriber = reportingRefusedGreeting(new Redis(serverOptions(connection, timeouts)));
    }
    for (const client of this.#clients()) this.#follow(client);
  }

  /** What an operation's failure means: if there was no connection because it was refused, it is a refusal. */
  judge(error: unknown): RedisVerdict {
    const verdict = judgeRedisError(error);
    const { kind, reason } = verdict;
    // After such a reply it is we who close the connection: until there is a new one, the reply is the reason. A cluster
    // does not report when one of its nodes is connected again.
    if (kind === 'refuses' && this.commands instanceof Redis && comesFromWrongServer(reason))
      this.#lastFailures.set(this.commands, verdict);
    if (kind === 'refuses' || !WITHOUT_CONNECTION.has(reason)) return verdict;
    return this.#lastFailures.get(this.commands) ?? this.#lastFailures.get(this.#subscriber) ?? verdict;
  }

  onMessage(listener: (channel: string, message: string) => void): void {
    this.#subscriber.on('message', listener);
  }

  /** @returns whether it is on another connection than before: what was said in between is lost */
  async subscribe(channel: string): Promise<boolean> {
    await this.#subscriber.subscribe(channel);
    const [before, now] = [this.#listeningOn, this.#listeningConnection()];
    this.#listeningOn = now;
    // In a cluster, the library replaces it and resubscribes without telling anybody.
    if (now instanceof Redis && now !== before) now.once('end', () => this.#options.onLost());
    return before !== undefined && before !== now;
  }

  /** For a subscriber that has gone silent while its socket stays open. */
  reconnectSubscriber(): void {
    if (this.#subscriber.status === 'ready') this.#subscriber.disconnect(true);
  }

  /** Once only: disconnecting a closed connection again would leave a timer of the library running. */
  close(): void {
    for (const close of this.#closers.splice(0)) close();
  }

  #clients(): readonly RedisClient[] {
    return [this.commands, this.#subscriber];
  }

  #listeningConnection(): object | undefined {
    if (this.#subscriber instanceof Redis) return this.#subscriber.stream;
    return (this.#subscriber['subscriber'] as ClusterListener | undefined)?.getInstance() ?? undefined;
  }

  #followCluster(cluster: Cluster): Cluster {
    cluster.on('+node', (node: Redis) => reportingRefusedGreeting(node).on('ready', () => this.#tellWhenReady()));
    return cluster.on('-node', () => this.#options.onChanged());
  }

  /**
   * A single node or sentinel that fails is not an event here: commands and the probe show whether it matters. The
   * library stops for good if an attempt fails before there is a socket; we never stop.
   */
  #follow(client: RedisClient): void {
    const { clock, onLost } = this.#options;
    const restart = new Alarm(clock, () => {
      client.connect().catch((error: unknown) => this.#failed(client, error));
    });
    client.on('ready', () => {
      this.#lastFailures.delete(client);
      this.#tellWhenReady();
    });
    client.on('error', (error: unknown) => this.#failed(client, error));
    client.on('close', onLost);
    client.on('end', () => restart.in(reconnectDelayMs(Infinity)));
    this.#closers.push(
      () => restart.close(),
      () => client.disconnect(),
    );
  }

  #tellWhenReady(): void {
    const nodes = this.commands instanceof Cluster ? this.commands.nodes('master') : [];
    if ([...this.#clients(), ...nodes].every(({ status }) => status === 'ready')) this.#options.onChanged();
  }

  #failed(client: RedisClient, error: unknown): void {
    const verdict = judgeRedisError(error);
    // A server that refuses a connection also closes it, and the next attempt, or its greeting, may see nothing but
    // that.
    const isEcho = CLOSED.has(verdict.reason) && this.#lastFailures.get(client)?.kind === 'refuses';
    if (!isEcho) this.#lastFailures.set(client, verdict);
    this.#options.onLost();
  }
}

// ---- What a server says to the first commands on a connection

/** Protected mode: the server accepts no clients from another machine. */
const TURNED_AWAY = 'DENIED';

/** Unknown clients already get these in reply to the greeting: what follows from it says less. */
const NOT_KNOWN: ReadonlySet<string> = new Set(['NOAUTH', 'WRONGPASS', TURNED_AWAY]);

/** @returns the same client, which reports the refusal of its greeting or of its database like every other refusal */
export function reportingRefusedGreeting(client: Redis): Redis {
  return Object.assign(client, { hello: greetingOf(client), select: choiceOf(client) });
}

/**
 * A server in protected mode says why it refuses a connection, in words that include "no password is set". The client
 * library mistakes any such reply to its greeting for advice: it writes its own line to the console, about a password
 * that nobody gave, and keeps the reason to itself. Here, only the code of the reply reaches it.
 */
function greetingOf(client: Redis): (...words: readonly unknown[]) => Promise<unknown> {
  const greet = client.hello.bind(client) as (...words: readonly unknown[]) => Promise<unknown>;
  return (...words) =>
    greet(...words).catch((error: unknown) => {
      if (judgeRedisError(error).reason !== TURNED_AWAY) throw error;
      throw Object.assign(new Error(TURNED_AWAY), { name: 'ReplyError' });
    });
}

/**
 * If its choice of a database is refused, the client library reports that and continues in database 0, which may belong
 * to somebody else. Here such a connection ends before anything else is sent on it, and is retried like any other.
 */
function choiceOf(client: Redis): (database: number | string) => Promise<'OK'> {
  const select: (database: number | string) => Promise<'OK'> = client.select.bind(client);
  return (database) =>
    select(database).catch(async (error: unknown) => {
      const { kind, reason } = judgeRedisError(error);
      if (kind === 'silent' || NOT_KNOWN.has(reason)) throw error;
      client.emit('error', error);
      const closed = new Promise((resolve) => client.once('close', resolve));
      client.disconnect(true);
      await closed;
      throw error;
    });
}
