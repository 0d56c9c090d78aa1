import type { Clock } from '#libs/clock';
import type { StoreConfiguration } from '#libs/configuration';
import type { ClientKey } from '#libs/jwe';
import type { SessionStore } from '#libs/session';
import { MemorySessionStore, redisConnection, RedisSessionStore } from '#libs/store';
import type { Logger } from '#libs/telemetry';

export interface StoreParts {
  readonly store: StoreConfiguration;
  readonly keysOf: (merchant: string) => readonly ClientKey[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether the store answers: told once at the start and at each change. */
  readonly onStateChange: (up: boolean) => void;
}

/** The store that the configuration names. A Redis that is down does not stop the start: it is reconnected. */
export async function openStore(parts: StoreParts): Promise<SessionStore> {
  const { store, keysOf, clock, logger, onStateChange } = parts;
  if (store.type === 'memory') {
    onStateChange(true);
    return new MemorySessionStore({ clock });
  }
  return await RedisSessionStore.open({
    connection: redisConnection(store),
    keyPrefix: store.keyPrefix,
    keysOf,
    clock,
    onStateChange: (up, detail) => {
      logStoreState(logger, up, detail);
      onStateChange(up);
    },
  });
}

/** One line per change, not per operation that fails or retry that is made. */
function logStoreState(logger: Logger, up: boolean, detail: string): void {
  if (up) logger.info({ detail }, 'the store answers');
  else logger.warn({ detail }, 'the store does not answer; sessions in memory go on being served');
}
