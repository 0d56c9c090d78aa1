import type { Clock, ScheduledTask } from '#libs/clock';
import { Cluster, Redis } from 'ioredis';
import { clusterOptions, reconnectDelayMs, type RedisTimeouts, serverOptions } from './connection-profile.js';
import type { RedisConnection } from './redis-connection.js';
import { describeRedisError } from './redis-failure.js';
import type { RedisClient } from './redis-script.js';

export interface RedisLinksOptions {
  readonly connection: RedisConnection;
  readonly timeouts: RedisTimeouts;
  readonly clock: Clock;
  /** Every link is connected. */
  readonly onReady: () => void;
  /** Called for each attempt that fails: the receiver tells changes from repetitions. */
  readonly onLost: (detail: string) => void;
}

/**
 * The connections of one replica: one for commands and one for announcements alone, so that neither is held up by the
 * other. The client library reconnects them; what it gives up is started again here.
 */
export class RedisLinks {
  readonly commands: RedisClient;
  readonly subscriber: RedisClient;
  readonly #options: RedisLinksOptions;
  readonly #restarts = new Set<ScheduledTask>();
  #closed = false;

  constructor(options: RedisLinksOptions) {
    this.#options = options;
    this.commands = this.#connect();
    this.subscriber = this.#connect();
  }

  /** For a subscriber that has gone silent while its socket stays open. */
  reconnectSubscriber(): void {
    if (this.subscriber.status === 'ready') this.subscriber.disconnect(true);
  }

  /** Once only: disconnecting a closed connection again would leave a timer of the library running. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const restart of this.#restarts) restart.cancel();
    for (const client of this.#clients()) client.disconnect();
  }

  #clients(): readonly RedisClient[] {
    return [this.commands, this.subscriber];
  }

  #connect(): RedisClient {
    const { connection, timeouts } = this.#options;
    const client =
      connection.kind === 'cluster'
        ? new Cluster([...connection.nodes], clusterOptions(connection, timeouts))
        : new Redis(serverOptions(connection, timeouts));
    this.#follow(client);
    return client;
  }

  /** One node or one sentinel that fails is no event here: commands and the probe tell whether it matters. */
  #follow(client: RedisClient): void {
    client.on('ready', () => {
      if (this.#clients().every(({ status }) => status === 'ready')) this.#options.onReady();
    });
    client.on('error', (error: unknown) => this.#lost(describeRedisError(error)));
    client.on('close', () => this.#lost('the connection was closed'));
    client.on('end', () => this.#restart(client));
  }

  #lost(detail: string): void {
    if (!this.#closed) this.#options.onLost(detail);
  }

  /** The library stops for good when an attempt fails before there is a socket; for us there is no such thing. */
  #restart(client: RedisClient): void {
    if (this.#closed) return;
    const { clock, timeouts } = this.#options;
    const delayMs = reconnectDelayMs(Infinity, timeouts.longestReconnectMs, Math.random);
    const restart = clock.schedule(delayMs, () => {
      this.#restarts.delete(restart);
      client.connect().catch((error: unknown) => this.#lost(describeRedisError(error)));
    });
    this.#restarts.add(restart);
  }
}
