import type { Clock } from '#libs/clock';
import type { BrokerConfiguration } from '#libs/configuration';
import type { SessionReplica } from '#libs/session';
import { createInstruments, type Logger, type Telemetry } from '#libs/telemetry';
import { MerchantLabels } from './merchant-labels.js';
import { SessionMetrics, type WatchedParts } from './session-metrics.js';
import { StatusPage } from './status/status-page.js';
import { type StoreCondition, StoreState } from '../renewal/store-state.js';
import { UnconfirmedRejections } from './unconfirmed-rejections.js';
import type { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import type { ConfiguredMerchants } from '../configuration/configured-merchants.js';
import { EventFanOut } from '../renewal/event-fan-out.js';
import { EventLog } from '../renewal/event-log.js';

export interface ObserversParts {
  readonly configuration: ConfigurationInForce;
  readonly merchants: ConfiguredMerchants;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry: Telemetry | undefined;
}

/** Everybody who looks at what this replica does: log, metrics and status page. */
export class Observers {
  readonly metrics: SessionMetrics | undefined;
  readonly status: StatusPage | undefined;
  readonly storeState: StoreState;
  /** Tells all of them. */
  readonly events: EventFanOut;
  readonly #unconfirmed: UnconfirmedRejections;

  constructor(parts: ObserversParts) {
    const { configuration, merchants, clock, logger } = parts;
    this.storeState = new StoreState(clock);
    this.metrics = metricsOf(parts);
    this.status = configuration.current.management.statusPage
      ? new StatusPage({ configuration, merchants, storeState: this.storeState, clock })
      : undefined;
    this.#unconfirmed = new UnconfirmedRejections(clock, configuration.derive(callersOf));
    const listeners = [this.metrics, this.status, this.#unconfirmed].filter((listener) => listener !== undefined);
    this.events = new EventFanOut(new EventLog(logger), ...listeners);
  }

  noteStore(condition: StoreCondition, reason: string): void {
    this.storeState.note(condition, reason);
    this.status?.noteNews();
  }

  /** The replica is made after those who hear of it: from here on there is something to look at. */
  watch(replica: SessionReplica, watched: Omit<WatchedParts, 'unconfirmedRejections' | 'store'>): void {
    this.metrics?.watch(replica, {
      ...watched,
      unconfirmedRejections: () => this.#unconfirmed.all(),
      store: () => this.storeState.current?.condition,
    });
  }
}

function metricsOf({ configuration, clock, telemetry }: ObserversParts): SessionMetrics | undefined {
  if (telemetry === undefined) return undefined;
  const labels = configuration.derive(({ merchants, management }) => {
    const ids = merchants.map(({ id }) => id);
    return new MerchantLabels(ids, management.merchantSeries);
  });
  return new SessionMetrics(createInstruments(telemetry.meter), clock, labels);
}

function callersOf({ auth }: BrokerConfiguration): ReadonlySet<string> {
  return new Set(auth.policies.map(({ caller }) => caller));
}
