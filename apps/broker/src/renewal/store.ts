import type { Clock } from '#libs/clock';
import type { StoreConfiguration } from '#libs/configuration';
import type { ClientKey } from '#libs/jwe';
import type { SessionStore } from '#libs/session';
import { addressOf, MemorySessionStore, redisConnection, RedisSessionStore, remedyOfRefusal } from '#libs/store';
import type { Logger } from '#libs/telemetry';
import type { StoreCondition, StoreState } from './store-state.js';

interface StoreParts {
  readonly store: StoreConfiguration;
  readonly keysOf: (merchant: string) => readonly ClientKey[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Receives the state of the store, at the start and at each change. */
  readonly state: StoreState;
}

/** The store that the configuration names. A Redis that is down does not stop the start: it is reconnected. */
export async function openStore(parts: StoreParts): Promise<SessionStore> {
  const { store, keysOf, clock, logger, state } = parts;
  if (store.type === 'memory') {
    state.note('answers', 'the store is this process');
    return new MemorySessionStore({ clock });
  }
  const connection = redisConnection(store);
  const address = addressOf(connection);
  return await RedisSessionStore.open({
    connection,
    keyPrefix: store.keyPrefix,
    keysOf,
    clock,
    onStateChange: (condition, reason) => {
      logStoreState(logger, condition, { detail: reason, address });
      state.note(condition, reason);
    },
  });
}

/**
 * Replicas reconnect within a second, notice within another quarter of a second that the store answers, and then read
 * it.
 */
const SHARED_STORE_MS = 1_500;

/** How long other replicas get to restore what a store has lost; a store in this process has no other replicas. */
export function graceMsFor({ type }: Pick<StoreConfiguration, 'type'>): number {
  return type === 'redis' ? SHARED_STORE_MS : 0;
}

interface StoreFacts {
  readonly detail: string;
  /** Of its servers, as configured. */
  readonly address: string;
}

/** One line per change, not per failed operation or retry. */
export function logStoreState(logger: Logger, condition: StoreCondition, told: StoreFacts): void {
  const { detail } = told;
  switch (condition) {
    case 'answers':
      return logger.info(told, 'the store answers');
    case 'refuses':
      return logger.error(
        { ...told, runbook: 'store-down' },
        `the store refuses: ${withRemedy(detail)}; it will not pass by itself, and no session is created`,
      );
    case 'silent':
      return logger.warn(
        { ...told, runbook: 'store-down' },
        'the store does not answer; sessions in memory go on being served',
      );
  }
}

function withRemedy(reason: string): string {
  const remedy = remedyOfRefusal(reason);
  return remedy === undefined ? reason : `${reason} (${remedy})`;
}
