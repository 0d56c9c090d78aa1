import type { Clock, Instant } from '#libs/clock';
import type { StoreConfiguration } from '#libs/configuration';
import type { ClientKey } from '#libs/jwe';
import type { SessionStore } from '#libs/session';
import { addressOf, MemorySessionStore, redisConnection, RedisSessionStore, remedyOfRefusal } from '#libs/store';
import type { Logger } from '#libs/telemetry';

/**
 * A store `answers`; `refuses`: it answers that it will not, for a reason that a person has to fix; or is `silent`.
 * Only silence is an outage in which replicas may go on alone.
 */
export const storeConditions = ['answers', 'refuses', 'silent'] as const;

export type StoreCondition = (typeof storeConditions)[number];

interface KnownStoreState {
  readonly condition: StoreCondition;
  /**
   * Since when it answers, or has not worked: one that is silent and then refuses counts as down since it fell silent.
   */
  readonly since: Instant;
  /** One line without secrets; for a refusal, the code of the reply, such as `NOPERM`. */
  readonly reason: string;
}

/** The state of the store as seen by this replica's connection, for everything that reads it or listens for it. */
export class StoreState {
  /** Undefined until the first connection has succeeded or failed. */
  current: KnownStoreState | undefined;
  /** Whether it has ever answered: a replica that has never reached its store knows nothing of what others created. */
  wasReached = false;
  /** Gets the time of every operation, whether it succeeded or not. */
  onOperation: (operation: string, tookMs: number) => void = () => undefined;
  readonly #listeners: (() => void)[] = [];

  constructor(private readonly clock: Clock) {}

  /** Why the store cannot be used; undefined while it can, and until it has been tried once. */
  get trouble(): string | undefined {
    return this.current?.condition === 'answers' ? undefined : this.current?.reason;
  }

  /** Whether nothing is renewed because of the store. */
  get blocksRenewal(): boolean {
    const condition = this.current?.condition;
    return condition === 'refuses' || condition === 'silent';
  }

  note(condition: StoreCondition, reason: string): void {
    this.wasReached ||= condition === 'answers';
    const known = this.current;
    const isSame = known !== undefined && (known.condition === 'answers') === (condition === 'answers');
    const since = isSame ? known.since : this.clock.now();
    this.current = { condition, since, reason };
    for (const tell of this.#listeners) tell();
  }

  /** Calls the listener on every change from now on. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }
}

interface StoreParts {
  readonly store: StoreConfiguration;
  readonly keysOf: (merchant: string) => readonly ClientKey[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Receives the state of the store, at the start and at each change. */
  readonly state: StoreState;
}

/** Tells how long each operation of the store takes. */
export function timed(store: SessionStore, { clock, state }: Pick<StoreParts, 'clock' | 'state'>): SessionStore {
  const time =
    <Args extends readonly unknown[], Answer>(operation: string, ask: (...args: Args) => Promise<Answer>) =>
    async (...args: Args): Promise<Answer> => {
      const askedAtMs = clock.monotonicMs();
      try {
        return await ask(...args);
      } finally {
        state.onOperation(operation, clock.monotonicMs() - askedAtMs);
      }
    };
  return {
    read: time('read', (wanted) => store.read(wanted)),
    due: time('due', (asked) => store.due(asked)),
    claim: time('claim', (request) => store.claim(request)),
    publish: time('publish', (publication, lease) => store.publish(publication, lease)),
    release: time('release', (lease, release) => store.release(lease, release)),
    report: time('report', (merchant, report) => store.report(merchant, report)),
    announce: time('announce', (signal) => store.announce(signal)),
    onAnnouncement: (listener) => store.onAnnouncement(listener),
    close: () => store.close(),
  };
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
  const redis = await RedisSessionStore.open({
    connection,
    keyPrefix: store.keyPrefix,
    keysOf,
    clock,
    onStateChange: (condition, reason) => {
      logStoreState(logger, condition, { detail: reason, address });
      state.note(condition, reason);
    },
  });
  return timed(redis, parts);
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

/** One line per change, not per failed operation or retry. */
export function logStoreState(
  logger: Logger,
  condition: StoreCondition,
  told: { detail: string; address: string },
): void {
  const trouble = { ...told, runbook: 'store-down' };
  switch (condition) {
    case 'answers':
      return logger.info(told, 'the store answers');
    case 'refuses': {
      const why = withRemedy(told.detail);
      return logger.error(trouble, `the store refuses: ${why}; it will not pass by itself, and no session is created`);
    }
    case 'silent':
      return logger.warn(trouble, 'the store does not answer; sessions in memory go on being served');
  }
}

function withRemedy(reason: string): string {
  const remedy = remedyOfRefusal(reason);
  return remedy === undefined ? reason : `${reason} (${remedy})`;
}
