import { randomInt, randomUUID } from 'node:crypto';
import type { FactoryProvider, Provider } from '@nestjs/common';
import type { Clock } from '#libs/clock';
import { GatewayConnections, type MerchantGateway, UndiciSessionGateway } from '#libs/gateway';
import type { ClientKey } from '#libs/jwe';
import {
  HeldSessions,
  type ReplicaPorts,
  type Session,
  SessionReplica,
  type SessionStore,
  type Tracing,
} from '#libs/session';
import type { Logger, Telemetry } from '#libs/telemetry';
import { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import { CLOCK, LOGGER, TELEMETRY } from '../platform/tokens.js';
import { ConfiguredMerchants } from './configured-merchants.js';
import { EventFanOut } from './event-fan-out.js';
import { EventLog } from './event-log.js';
import { graceMsFor } from './grace-of-store.js';
import { openStore } from './open-store.js';
import { adviseRestart } from './restart-advice.js';
import { RenewalScheduler } from './renewal-scheduler.js';
import { ReplicaConnections, STORE } from './replica-connections.js';
import { RetiredKeys } from './retired-keys.js';
import { StoreState } from './store-state.js';

/** Jitter need not be unpredictable, but one source of randomness is enough. */
const RANDOM_STEPS = 2 ** 32;

/** The ports of the domain, each with this broker's implementation. */
const PORTS = Symbol('ports');
type Ports = Pick<ReplicaPorts, 'merchants' | 'store' | 'gateway' | 'events'>;

const heldSessions: FactoryProvider<HeldSessions> = {
  provide: HeldSessions,
  inject: [CLOCK],
  useFactory: (clock: Clock) => new HeldSessions(clock),
};

const retiredKeys: FactoryProvider<RetiredKeys> = {
  provide: RetiredKeys,
  inject: [CLOCK, HeldSessions],
  useFactory: (clock: Clock, held: HeldSessions) => {
    const sessionOf = (id: string): Session | undefined => (held.facts(id).leftMs > 0 ? held.get(id) : undefined);
    return new RetiredKeys({ clock, sessionOf });
  },
};

const events: FactoryProvider<EventFanOut> = {
  provide: EventFanOut,
  inject: [LOGGER],
  useFactory: (logger: Logger) => new EventFanOut(new EventLog(logger)),
};

const store: FactoryProvider<SessionStore> = {
  provide: STORE,
  inject: [ConfigurationInForce, ConfiguredMerchants, StoreState, CLOCK, LOGGER],
  useFactory: (
    configuration: ConfigurationInForce,
    merchants: ConfiguredMerchants,
    state: StoreState,
    clock: Clock,
    logger: Logger,
  ) => {
    const keysOf = (merchant: string): readonly ClientKey[] => merchants.clientKeysOf(merchant);
    adviseRestart({ lastReading: configuration.lastReading, state, logger });
    return openStore({ store: configuration.current.store, keysOf, state, clock, logger });
  },
};

const connections: FactoryProvider<GatewayConnections> = {
  provide: GatewayConnections,
  inject: [CLOCK],
  useFactory: (clock: Clock) => new GatewayConnections(clock),
};

const gateway: FactoryProvider<UndiciSessionGateway> = {
  provide: UndiciSessionGateway,
  inject: [ConfiguredMerchants, GatewayConnections, CLOCK, TELEMETRY],
  useFactory: (merchants: ConfiguredMerchants, pool: GatewayConnections, clock: Clock, telemetry?: Telemetry) => {
    const ofMerchant = (id: string): MerchantGateway | undefined => merchants.connectionOf(id);
    return new UndiciSessionGateway({ merchants: ofMerchant, connections: pool, clock, ...tracingOf(telemetry) });
  },
};

const ports: FactoryProvider<Ports> = {
  provide: PORTS,
  inject: [ConfiguredMerchants, STORE, UndiciSessionGateway, EventFanOut],
  useFactory: (
    configured: ConfiguredMerchants,
    opened: SessionStore,
    undici: UndiciSessionGateway,
    fanOut: EventFanOut,
  ) => ({ merchants: configured, store: opened, gateway: undici, events: fanOut }),
};

const replica: FactoryProvider<SessionReplica> = {
  provide: SessionReplica,
  inject: [PORTS, HeldSessions, ConfigurationInForce, CLOCK, TELEMETRY],
  useFactory: (
    adapters: Ports,
    held: HeldSessions,
    configuration: ConfigurationInForce,
    clock: Clock,
    telemetry?: Telemetry,
  ) =>
    new SessionReplica({
      ...adapters,
      ...tracingOf(telemetry),
      held,
      clock,
      owner: randomUUID(),
      random: () => randomInt(RANDOM_STEPS) / RANDOM_STEPS,
      graceMs: graceMsFor(configuration.current.store),
    }),
};

function tracingOf(telemetry: Telemetry | undefined): { readonly tracing?: Tracing } {
  const tracing = telemetry?.traces?.renewals;
  return tracing === undefined ? {} : { tracing };
}

/** The replica, and what it is made of: ports meet adapters here and nowhere else. */
export const renewalProviders: Provider[] = [
  heldSessions,
  retiredKeys,
  ConfiguredMerchants,
  StoreState,
  events,
  store,
  connections,
  gateway,
  ports,
  replica,
  ReplicaConnections,
  RenewalScheduler,
];
