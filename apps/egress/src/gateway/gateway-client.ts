import type { Clock } from '#libs/clock';
import type { EgressConfiguration } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import type { Dispatcher, OutboundConnections } from '#libs/outbound';
import { type ExchangeOptions, type GatewayAnswer, GatewayExchange, type GatewayRequest } from './gateway-exchange.js';
import { passedHeaders } from './request-headers.js';

interface GatewayClientParts {
  readonly merchant: string;
  readonly connections: OutboundConnections;
  readonly settings: EgressConfiguration['gateway'];
  readonly clock: Clock;
}

/** A request as its sender sees it, without knowing where the gateway is. */
export type OutgoingRequest = Omit<GatewayRequest, 'origin'>;

/** The bank's gateway, as configured, over connections of one merchant. */
export class GatewayClient {
  readonly #parts: GatewayClientParts;
  readonly #origin: string;
  readonly #base: string;
  /** Headers of clients that it gets. */
  readonly passedHeaders: readonly string[];
  #dispatcher: Dispatcher | undefined;

  constructor(parts: GatewayClientParts) {
    const { origin, pathname } = parts.settings.baseUrl;
    this.#parts = parts;
    this.passedHeaders = passedHeaders(parts.settings.passedHeaders);
    this.#origin = origin;
    this.#base = pathname.replace(/\/+$/, '');
  }

  /** @throws as GatewayExchange.send */
  send(request: OutgoingRequest, options: Pick<ExchangeOptions, 'heldBytes' | 'gone'>): Promise<GatewayAnswer> {
    const { merchant: owner, connections, settings, clock } = this.#parts;
    const { tls, proxy, timeoutMs } = settings;
    this.#dispatcher ??= connections.dispatcherFor({ owner, tls, ...(proxy === undefined ? {} : { proxy }) });
    const dispatcher = this.#dispatcher;
    if (dispatcher === undefined) return Promise.reject(new BrokerError('shutting_down'));
    const whole = { ...request, origin: this.#origin, path: this.#base + request.path };
    return GatewayExchange.send(whole, { ...options, dispatcher, clock, timeoutMs });
  }
}
