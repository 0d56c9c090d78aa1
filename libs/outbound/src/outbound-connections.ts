import { createHash } from 'node:crypto';
import type { Clock } from '#libs/clock';
import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import { pool } from './pool.js';
import { type TlsTrust, trustOptions } from './tls-trust.js';

/** How a host is reached. Equal settings share connections. */
export interface ConnectionSettings {
  readonly tls: TlsTrust;
  /** URL of an HTTP proxy. */
  readonly proxy?: URL;
  /** Whose requests these are: nobody else's travel on the same connections. */
  readonly owner?: string;
  /** PEM: our client certificate and its key. */
  readonly certificate?: { readonly cert: string; readonly key: string };
}

interface PoolOptions {
  readonly clock: Clock;
  readonly connectionsPerOrigin?: number;
}

/** Only a backstop: the call's own deadline ends it first. Without it, an abandoned attempt would live for minutes. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Idle connections are dropped early: using one just as the other end closes it costs a failed call. */
const KEEP_ALIVE_MS = 4_000;
const MAX_KEEP_ALIVE_MS = 30_000;
const MAX_HEADER_BYTES = 16_384;
const CONNECTIONS_PER_ORIGIN = 64;
/** How long `close` lets calls in flight finish. */
const CLOSE_GRACE_MS = 1_000;

/** The pool of all connections to one kind of host. Owned, and closed, by the app. */
export class OutboundConnections {
  readonly #clock: Clock;
  readonly #connectionsPerOrigin: number;
  readonly #dispatchers = new Map<string, Dispatcher>();
  /** Ends every socket, including those still connecting, which undici's own `destroy` leaves to time out. */
  readonly #sockets = new AbortController();
  #closed: Promise<void> | undefined;

  constructor({ clock, connectionsPerOrigin = CONNECTIONS_PER_ORIGIN }: PoolOptions) {
    this.#clock = clock;
    this.#connectionsPerOrigin = connectionsPerOrigin;
  }

  /** @returns undefined once the pool is closed */
  dispatcherFor(settings: ConnectionSettings): Dispatcher | undefined {
    if (this.#closed !== undefined) return undefined;
    const { owner, tls, proxy, certificate } = settings;
    const parts = [owner, tls.ca, [...tls.pins].sort(), proxy?.href, certificate?.cert, certificate?.key];
    // Not the parts themselves: a thousand owners would each keep a copy of the certificates.
    const key = createHash('sha256').update(JSON.stringify(parts)).digest('base64');
    const pooled = this.#dispatchers.get(key);
    if (pooled !== undefined) return pooled;
    const dispatcher = this.#open(settings);
    this.#dispatchers.set(key, dispatcher);
    return dispatcher;
  }

  /** Lets calls in flight finish for a second, then ends them. No socket is open afterwards. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#drain();
    return this.#closed;
  }

  async #drain(): Promise<void> {
    const dispatchers = [...this.#dispatchers.values()];
    const cut = this.#clock.schedule(CLOSE_GRACE_MS, () => {
      this.#sockets.abort();
      for (const dispatcher of dispatchers) void dispatcher.destroy();
    });
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.close()));
    cut.cancel();
    this.#sockets.abort();
  }

  #open({ tls, proxy, certificate }: ConnectionSettings): Dispatcher {
    const { signal } = this.#sockets;
    const socket = { signal, timeout: CONNECT_TIMEOUT_MS, allowH2: false, maxCachedSessions: 0 };
    // A resumed TLS session skips the identity check, and with it the pins, so sessions are not cached.
    const connect = { ...socket, ...trustOptions(tls), ...certificate };
    const options = {
      connect,
      connectTimeout: CONNECT_TIMEOUT_MS,
      allowH2: false,
      // One request at a time on a connection: none waits behind, or fails with, another.
      pipelining: 1,
      connections: this.#connectionsPerOrigin,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    };
    // What undici gives on to the pools of a proxy lacks all of these but the connections.
    const factory = (origin: URL | string, given: object): Dispatcher => pool(origin, { ...options, ...given });
    if (proxy === undefined) return new Agent({ ...options, factory });
    const proxyTls = { ...socket, ...trustOptions({ pins: [] }) };
    const pools = { factory, clientFactory: factory };
    return new ProxyAgent({ ...options, ...pools, uri: proxy.href, requestTls: connect, proxyTls });
  }
}
