import type { Clock } from '#libs/clock';
import { type Dispatcher, OutboundConnections } from '#libs/outbound';
import { GatewayFailure } from '#libs/session';
import type { GatewayPlace } from './merchant-gateway.js';

/** What must be equal for two calls to share connections. */
type ConnectionSettings = Pick<GatewayPlace, 'merchant' | 'tls' | 'proxy'>;

/** A renewal has one call in flight. */
const CONNECTIONS_PER_MERCHANT = 4;

/** The pools: each merchant has connections of its own. Owned, and closed, by the app. */
export class GatewayConnections {
  readonly #connections: OutboundConnections;

  constructor(clock: Clock) {
    this.#connections = new OutboundConnections({ clock, connectionsPerOrigin: CONNECTIONS_PER_MERCHANT });
  }

  /** @throws GatewayFailure `aborted` once the pool is closed */
  dispatcherFor({ merchant, tls, proxy }: ConnectionSettings): Dispatcher {
    const dispatcher = this.#connections.dispatcherFor({
      tls,
      ...(merchant === undefined ? {} : { owner: merchant }),
      ...(proxy === undefined ? {} : { proxy }),
    });
    if (dispatcher !== undefined) return dispatcher;
    throw new GatewayFailure({ kind: 'aborted', detail: 'the connections to the gateway are closed' });
  }

  /** Lets calls in flight finish for a second, then ends them. No socket is open afterwards. Idempotent. */
  close(): Promise<void> {
    return this.#connections.close();
  }
}
