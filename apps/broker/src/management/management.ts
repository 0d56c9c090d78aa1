import { drain, type EndedConnections, guardServer, listen, MANAGEMENT_BOUNDS } from '#libs/edge';
import { StatusPage } from '#libs/status-page';
import { createInstruments, type Telemetry } from '#libs/telemetry';
import type { Authenticator } from '../auth/authenticator.service.js';
import type { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import type { SessionWatchers } from '../events/session-watchers.js';
import type { RequestLife } from '../http/request-life.js';
import type { ThisReplica } from '../platform/platform.js';
import type { OpenReplica } from '../renewal/replica.js';
import type { SessionReads } from '../sessions/session-reads.js';
import { createManagementServer } from './management-server.js';
import { MerchantLabels } from './merchant-labels.js';
import { ReplicaStatus } from './replica-status.js';
import { SessionMetrics } from './session-metrics.js';
import { serveStatus } from './status-routes.js';
import { UnconfirmedRejections } from './unconfirmed-rejections.js';

interface ManagementParts {
  readonly configuration: ConfigurationInForce;
  readonly self: ThisReplica;
  readonly telemetry: Telemetry | undefined;
  readonly open: OpenReplica;
  readonly authenticator: Authenticator;
  readonly life: RequestLife;
  readonly reads: SessionReads;
  readonly watchers: SessionWatchers;
  /** Connections that were ended because a limit was reached. */
  readonly ends: EndedConnections;
}

/** The port for those who run the broker. */
export interface Management {
  /**
   * @returns its URL
   * @throws BrokerError `address_in_use`
   */
  listen(): Promise<string>;
  close(): Promise<void>;
  /** The configuration files were reread. */
  noteReload(isTaken: boolean): void;
}

/** What those who run the broker see of it: health, metrics and the status page, on a separate port. */
export function createManagement(parts: ManagementParts): Management {
  const { configuration, self, telemetry, ends } = parts;
  const { management, http } = configuration.current;
  const status = new ReplicaStatus(parts);
  const metrics = telemetry === undefined ? undefined : metricsOf(parts, telemetry);
  const server = createManagementServer(() => status.readiness(), telemetry, http.port);
  const page = management.statusPage ? statusPageOf(parts, status) : undefined;
  if (page !== undefined) serveStatus(server, page);
  const onEnd = ends.of('management');
  guardServer(server.server, { hosts: () => management.hosts, bounds: MANAGEMENT_BOUNDS, clock: self.clock, onEnd });
  return {
    listen: () => listen(management, (free) => server.listen(free)),
    close: () => drain(server.server, { close: () => server.close(), clock: self.clock }),
    noteReload: (isTaken) => metrics?.noteReload(isTaken),
  };
}

function statusPageOf({ self, open }: ManagementParts, status: ReplicaStatus): StatusPage {
  const page = new StatusPage(status, self);
  open.listen(page);
  return page;
}

function metricsOf(parts: ManagementParts, { meter, exemplars }: Telemetry): SessionMetrics {
  const { configuration, self, open, authenticator, reads, watchers, ends } = parts;
  const rejections = new UnconfirmedRejections(self.clock);
  const labels = configuration.derive(({ merchants, management }) => {
    const ids = merchants.map(({ id }) => id);
    return new MerchantLabels(ids, management.merchantSeries);
  });
  const metrics = new SessionMetrics(createInstruments(meter, exemplars), {
    replica: open.replica,
    clock: self.clock,
    labels,
    merchants: () => open.merchants.ids(),
    reads: () => reads.counts(),
    unconfirmedRejections: () => rejections.all(),
    store: () => open.store.current?.condition,
    watchers: () => watchers.count,
    authenticationFailures: () => authenticator.failures,
    endedConnections: () => ends.counts,
    certificates: () =>
      configuration.current.certificates.map(({ setting, endsAt }) => ({ setting, endsAtMs: endsAt })),
  });
  open.store.onOperation = (operation, tookMs) => metrics.noteStoreOperation(operation, tookMs);
  open.listen(rejections);
  open.listen(metrics);
  return metrics;
}
