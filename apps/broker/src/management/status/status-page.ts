import { hostname } from 'node:os';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '#libs/clock';
import type { SessionEvent, SessionEvents, SessionReplica } from '#libs/session';
import type { ConfigurationInForce } from '../../configuration/configuration-in-force.js';
import type { ConfiguredMerchants } from '../../configuration/configured-merchants.js';
import { VERSION } from '../../platform/version.js';
import type { Readiness } from '../readiness.service.js';
import type { StoreState } from '../../renewal/store-state.js';
import { EventLoopLag } from './event-loop-lag.js';
import { GatewayHealth } from './gateway-health.js';
import { MerchantSurvey } from './merchant-survey.js';
import { readPageFiles } from './page-files.js';
import { RenewalHistory } from './renewal-history.js';
import { StatusReporter } from './status-reporter.js';
import { serveStatus } from './status-routes.js';
import { StatusViewers } from './status-viewers.js';
import { StoreHealth } from './store-health.js';

export interface StatusPageParts {
  readonly configuration: ConfigurationInForce;
  readonly merchants: ConfiguredMerchants;
  readonly storeState: StoreState;
  readonly clock: Clock;
}

/** What exists only once the app does. */
export interface ServedParts {
  readonly replica: SessionReplica;
  readonly readiness: () => Readiness;
  readonly watchers: () => number;
}

/** The status page of this replica, put together: it listens from the start on, and is served once there is a replica. */
export class StatusPage implements SessionEvents {
  readonly #parts: StatusPageParts;
  readonly #startedAt: number;
  readonly #history: RenewalHistory;
  readonly #gateways: GatewayHealth;
  readonly #store: StoreHealth;
  readonly #lag: EventLoopLag;
  #viewers: StatusViewers | undefined;

  constructor(parts: StatusPageParts) {
    const { configuration, storeState, clock } = parts;
    this.#parts = parts;
    this.#startedAt = clock.now();
    this.#history = new RenewalHistory(clock);
    this.#gateways = new GatewayHealth((merchant) => this.#hostOf(merchant), clock);
    this.#store = new StoreHealth(configuration.current.store.type, storeState, clock);
    this.#lag = new EventLoopLag(clock);
  }

  emit(event: SessionEvent): void {
    this.#history.emit(event);
    this.#gateways.emit(event);
    this.#store.emit(event);
    this.#viewers?.noteNews();
  }

  /** Something has changed that is no event of the domain. */
  noteNews(): void {
    this.#viewers?.noteNews();
  }

  serve(server: FastifyInstance, served: ServedParts): void {
    const reporter = this.#reporter(served);
    const frame = (): Buffer => Buffer.from(`event: status\ndata: ${JSON.stringify(reporter.report())}\n\n`);
    const viewers = new StatusViewers({ clock: this.#parts.clock, frame });
    this.#viewers = viewers;
    this.#lag.start();
    serveStatus(server, { files: readPageFiles(), reporter, viewers });
  }

  /** Ends what is open, and takes nothing new. */
  close(): void {
    this.#viewers?.close();
    this.#lag.close();
  }

  #reporter({ replica, readiness, watchers }: ServedParts): StatusReporter {
    const { configuration, merchants, clock } = this.#parts;
    const required = configuration.derive(
      (next) => new Set(next.merchants.filter((merchant) => merchant.required).map(({ id }) => id)),
    );
    const hostOf = (merchant: string): string | undefined => this.#hostOf(merchant);
    return new StatusReporter({
      replica,
      clock,
      history: this.#history,
      gateways: this.#gateways,
      store: this.#store,
      lag: this.#lag,
      survey: new MerchantSurvey({ replica, ids: () => merchants.ids(), hostOf, clock }),
      isRequired: (merchant) => required().has(merchant),
      environmentOf: (merchant) => merchants.connectionOf(merchant)?.environment ?? 'production',
      facts: {
        name: hostname(),
        version: VERSION,
        startedAt: this.#startedAt,
        readiness,
        watchers,
        viewers: () => this.#viewers?.count ?? 0,
        residentBytes: () => process.memoryUsage.rss(),
      },
    });
  }

  #hostOf(merchant: string): string | undefined {
    return this.#parts.merchants.connectionOf(merchant)?.baseUrl.host;
  }
}
