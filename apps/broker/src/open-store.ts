import type { Clock } from '#libs/clock';
import type { StoreConfiguration } from '#libs/configuration';
import type { ClientKey } from '#libs/jwe';
import type { SessionStore } from '#libs/session';
import { MemorySessionStore, redisConnection, RedisSessionStore, type StoreHealthState } from '#libs/store';
import type { Logger } from '#libs/telemetry';

export interface StoreParts {
  readonly store: StoreConfiguration;
  readonly keysOf: (merchant: string) => readonly ClientKey[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether the store answers, refuses (and why) or is silent: told once at the start and at each change. */
  readonly onStateChange: (state: StoreHealthState, detail: string) => void;
}

/** The store that the configuration names. A Redis that is down does not stop the start: it is reconnected. */
export async function openStore(parts: StoreParts): Promise<SessionStore> {
  const { store, keysOf, clock, logger, onStateChange } = parts;
  if (store.type === 'memory') {
    onStateChange('answers', 'in memory');
    return new MemorySessionStore({ clock });
  }
  return await RedisSessionStore.open({
    connection: redisConnection(store),
    keyPrefix: store.keyPrefix,
    keysOf,
    clock,
    onStateChange: (state, detail) => {
      logStoreState(logger, state, detail);
      onStateChange(state, detail);
    },
  });
}

/** One line per change, not per operation that fails or retry that is made. */
function logStoreState(logger: Logger, state: StoreHealthState, detail: string): void {
  switch (state) {
    case 'answers':
      return logger.info({ detail }, 'the store answers');
    case 'refuses':
      return logger.error({ detail }, 'the store refuses to work; sessions in memory go on being served');
    case 'silent':
      return logger.warn({ detail }, 'the store does not answer; sessions in memory go on being served');
  }
}
