import type { FactoryProvider, Provider } from '@nestjs/common';
import type { Clock } from '#libs/clock';
import { guardServer, MANAGEMENT_BOUNDS } from '#libs/edge';
import { SessionReplica } from '#libs/session';
import { StatusPage } from '#libs/status-page';
import { createInstruments, type Telemetry } from '#libs/telemetry';
import { AuthenticationFailures } from '../auth/authentication-failures.js';
import { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import { SessionWatchers } from '../events/session-watchers.js';
import type { ThisReplica } from '../platform/platform.module.js';
import { CLOCK, TELEMETRY, THIS_REPLICA } from '../platform/tokens.js';
import { ConnectionEnds } from '../http/connection-ends.js';
import { ConfiguredMerchants } from '../renewal/configured-merchants.js';
import { EventFanOut } from '../renewal/event-fan-out.js';
import { StoreState } from '../renewal/store-state.js';
import { ReadCounts } from '../sessions/read-counts.js';
import { ManagementPort } from './management-port.js';
import { createManagementServer } from './management-server.js';
import { MerchantLabels } from './merchant-labels.js';
import { ReadinessProbe } from './readiness.service.js';
import { ReplicaStatus } from './replica-status.service.js';
import { SessionMetrics, type WatchedParts } from './session-metrics.js';
import { serveStatus } from './status-routes.js';
import { UnconfirmedRejections } from './unconfirmed-rejections.js';

const WATCHED = Symbol('watched');
const REFUSED = Symbol('refused');
type Refused = Pick<WatchedParts, 'authenticationFailures' | 'endedConnections'>;
type Counts = Omit<WatchedParts, 'replica' | 'clock' | 'labels'>;

const unconfirmedRejections: FactoryProvider<UnconfirmedRejections> = {
  provide: UnconfirmedRejections,
  inject: [ConfigurationInForce, EventFanOut, CLOCK],
  useFactory: (configuration: ConfigurationInForce, events: EventFanOut, clock: Clock) => {
    const callers = configuration.derive(({ auth }) => new Set(auth.policies.map(({ caller }) => caller)));
    const rejections = new UnconfirmedRejections(clock, callers);
    events.listen(rejections);
    return rejections;
  },
};

const refused: FactoryProvider<Refused> = {
  provide: REFUSED,
  inject: [AuthenticationFailures, ConnectionEnds],
  useFactory: (failures: AuthenticationFailures, ends: ConnectionEnds) => ({
    authenticationFailures: () => failures.all(),
    endedConnections: () => ends.all(),
  }),
};

const watched: FactoryProvider<Counts> = {
  provide: WATCHED,
  inject: [ConfiguredMerchants, ReadCounts, UnconfirmedRejections, StoreState, SessionWatchers, REFUSED],
  useFactory: (
    merchants: ConfiguredMerchants,
    reads: ReadCounts,
    rejections: UnconfirmedRejections,
    store: StoreState,
    watchers: SessionWatchers,
    counted: Refused,
  ) => ({
    merchants: () => merchants.ids(),
    reads: () => reads.all(),
    unconfirmedRejections: () => rejections.all(),
    store: () => store.current?.condition,
    watchers: () => watchers.count,
    ...counted,
  }),
};

const metrics: FactoryProvider<SessionMetrics | undefined> = {
  provide: SessionMetrics,
  inject: [WATCHED, SessionReplica, ConfigurationInForce, EventFanOut, CLOCK, TELEMETRY],
  useFactory: (
    counts: Counts,
    replica: SessionReplica,
    configuration: ConfigurationInForce,
    events: EventFanOut,
    clock: Clock,
    telemetry?: Telemetry,
  ) => {
    if (telemetry === undefined) return undefined;
    const labels = configuration.derive(({ merchants, management }) => {
      const ids = merchants.map(({ id }) => id);
      return new MerchantLabels(ids, management.merchantSeries);
    });
    const made = new SessionMetrics(createInstruments(telemetry.meter, telemetry.exemplars), {
      ...counts,
      replica,
      clock,
      labels,
    });
    events.listen(made);
    return made;
  },
};

const statusPage: FactoryProvider<StatusPage | undefined> = {
  provide: StatusPage,
  inject: [ReplicaStatus, ConfigurationInForce, EventFanOut, THIS_REPLICA],
  useFactory: (source: ReplicaStatus, configuration: ConfigurationInForce, events: EventFanOut, self: ThisReplica) => {
    if (!configuration.current.management.statusPage) return undefined;
    const page = new StatusPage(source, self);
    events.listen(page);
    return page;
  },
};

const port: FactoryProvider<ManagementPort> = {
  provide: ManagementPort,
  inject: [ConfigurationInForce, ReadinessProbe, CLOCK, ConnectionEnds, StatusPage, TELEMETRY],
  useFactory: (
    configuration: ConfigurationInForce,
    readiness: ReadinessProbe,
    clock: Clock,
    { management: ended }: ConnectionEnds,
    status?: StatusPage,
    telemetry?: Telemetry,
  ) => {
    const { management, http } = configuration.current;
    const server = createManagementServer(() => readiness.check(), telemetry, http.port);
    if (status !== undefined) serveStatus(server, status);
    guardServer(server.server, { hosts: () => management.hosts, bounds: MANAGEMENT_BOUNDS, clock, ended });
    return new ManagementPort({ server, address: management });
  },
};

export const managementProviders: Provider[] = [
  ReadinessProbe,
  ReplicaStatus,
  unconfirmedRejections,
  refused,
  watched,
  metrics,
  statusPage,
  port,
];
