import { randomInt, randomUUID } from 'node:crypto';
import { GatewayConnections, UndiciSessionGateway } from '#libs/gateway';
import { HeldSessions, type SessionEvents, SessionReplica } from '#libs/session';
import type { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import type { Platform } from '../platform/platform.js';
import { ConfiguredMerchants } from './configured-merchants.js';
import { EventLog } from './event-log.js';
import { RetiredKeys } from './retired-keys.js';
import { graceMsFor, openStore } from './store.js';
import { StoreState } from './store.js';

/** Jitter need not be unpredictable, but one source of randomness is enough. */
const RANDOM_STEPS = 2 ** 32;

/** One replica: what it holds, and what keeps that fresh. */
export interface OpenReplica {
  readonly replica: SessionReplica;
  readonly merchants: ConfiguredMerchants;
  readonly retired: RetiredKeys;
  readonly store: StoreState;
  /** The listener gets every event of the domain from now on. */
  listen(listener: SessionEvents): void;
  /** Closes its connections, once they are no longer needed. */
  close(): Promise<void>;
}

/** Ports meet adapters here and nowhere else. Nothing is claimed before the first tick. */
export async function openReplica(
  configuration: ConfigurationInForce,
  { clock, logger, telemetry }: Platform,
): Promise<OpenReplica> {
  const held = new HeldSessions(clock);
  const retired = new RetiredKeys(clock, (id) => (held.facts(id).leftMs > 0 ? held.get(id) : undefined));
  const merchants = new ConfiguredMerchants(configuration, retired);
  const state = new StoreState(clock);
  const settings = configuration.current.store;
  const store = await openStore({ store: settings, keysOf: (id) => merchants.clientKeysOf(id), clock, logger, state });
  const connections = new GatewayConnections(clock);
  const renewals = telemetry?.traces?.renewals;
  const tracing = renewals === undefined ? {} : { tracing: renewals };
  const listeners: SessionEvents[] = [new EventLog(logger)];
  const replica = new SessionReplica({
    merchants,
    store,
    gateway: new UndiciSessionGateway({
      merchants: (id) => merchants.connectionOf(id),
      connections,
      clock,
      ...tracing,
    }),
    events: { emit: (event) => listeners.forEach((listener) => listener.emit(event)) },
    held,
    clock,
    ...tracing,
    owner: randomUUID(),
    random: () => randomInt(RANDOM_STEPS) / RANDOM_STEPS,
    graceMs: graceMsFor(settings),
  });
  const close = async (): Promise<void> => {
    retired.close();
    await Promise.all([connections.close(), store.close()]);
  };
  return { replica, merchants, retired, store: state, listen: (listener) => void listeners.push(listener), close };
}
