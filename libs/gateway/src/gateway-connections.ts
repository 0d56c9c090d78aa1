import type { Clock } from '#libs/clock';
import { GatewayFailure } from '#libs/session';
import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import type { MerchantGateway } from './merchant-gateway.js';
import { trustOptions } from './tls-trust.js';

/** What must be equal for two merchants to share connections. */
type ConnectionSettings = Pick<MerchantGateway, 'tls' | 'proxy'>;

/** A backstop only: the deadline of the call ends it first. Without one, an abandoned attempt would live for minutes. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Idle connections are dropped early: one that the gateway has closed at the same moment costs a failed call. */
const KEEP_ALIVE_MS = 4_000;
const MAX_KEEP_ALIVE_MS = 30_000;
const MAX_HEADER_BYTES = 16_384;
const MAX_CONNECTIONS_PER_ORIGIN = 64;
/** How long `close` lets calls in flight finish. */
const CLOSE_GRACE_MS = 1_000;

/** The pool: merchants with the same TLS and proxy settings share connections. Owned, and closed, by the app. */
export class GatewayConnections {
  readonly #clock: Clock;
  readonly #dispatchers = new Map<string, Dispatcher>();
  /** Ends every socket, those that are still connecting included: undici's own `destroy` leaves them to time out. */
  readonly #sockets = new AbortController();
  #closed: Promise<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws GatewayFailure `aborted` once the pool is closed */
  dispatcherFor(settings: ConnectionSettings): Dispatcher {
    if (this.#closed !== undefined) {
      throw new GatewayFailure({ kind: 'aborted', detail: 'the connections to the gateway are closed' });
    }
    const key = JSON.stringify([settings.tls.ca, [...settings.tls.pins].sort(), settings.proxy?.href]);
    const pooled = this.#dispatchers.get(key);
    if (pooled !== undefined) return pooled;
    const dispatcher = openDispatcher(settings, this.#sockets.signal);
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
}

function openDispatcher({ tls, proxy }: ConnectionSettings, signal: AbortSignal): Dispatcher {
  const socket = { signal, timeout: CONNECT_TIMEOUT_MS, allowH2: false, maxCachedSessions: 0 };
  // A resumed TLS session skips the check of the identity, and so of the pins: sessions are not cached.
  const connect = { ...socket, ...trustOptions(tls) };
  const options = {
    connect,
    connectTimeout: CONNECT_TIMEOUT_MS,
    allowH2: false,
    // One request at a time on a connection: a create call never waits behind, or falls with, another.
    pipelining: 1,
    connections: MAX_CONNECTIONS_PER_ORIGIN,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  };
  if (proxy === undefined) return new Agent(options);
  return new ProxyAgent({ ...options, uri: proxy.href, requestTls: connect, proxyTls: socket });
}
