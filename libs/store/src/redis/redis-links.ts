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
  /** Every link is connected, or a node of the cluster has gone: time for a probe. */
  readonly onChanged: () => void;
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
    const { connection, timeouts } = options;
    if (connection.kind === 'cluster') {
      const nodes = [...connection.nodes];
      const profile = clusterOptions(connection, timeouts);
      this.commands = this.#followCluster(new Cluster(nodes, profile));
      // It listens on a connection of its own, so those to the other nodes can stay closed.
      this.subscriber = new Cluster(nodes, {
        ...profile,
        redisOptions: { ...profile.redisOptions, lazyConnect: true },
      });
    } else {
      this.commands = new Redis(serverOptions(connection, timeouts));
      this.subscriber = new Redis(serverOptions(connection, timeouts));
    }
    for (const client of this.#clients()) this.#follow(client);
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

  #followCluster(cluster: Cluster): Cluster {
    cluster.on('+node', (node: Redis) => node.on('ready', () => this.#tellWhenReady()));
    return cluster.on('-node', () => this.#options.onChanged());
  }

  /** One node or one sentinel that fails is no event here: commands and the probe tell whether it matters. */
  #follow(client: RedisClient): void {
    client.on('ready', () => this.#tellWhenReady());
    client.on('error', (error: unknown) => this.#lost(describeRedisError(error)));
    client.on('close', () => this.#lost('the connection was closed'));
    client.on('end', () => this.#restart(client));
  }

  #tellWhenReady(): void {
    const nodes = this.commands instanceof Cluster ? this.commands.nodes('master') : [];
    if ([...this.#clients(), ...nodes].every(({ status }) => status === 'ready')) this.#options.onChanged();
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
