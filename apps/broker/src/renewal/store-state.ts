import type { Clock, Instant } from '#libs/clock';
import type { SessionSettings } from '#libs/session';

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

type StoreStateListener = (state: KnownStoreState) => void;

/** The state of the store as seen by this replica's connection, for everything that reads it or listens for it. */
export class StoreState {
  readonly #clock: Clock;
  /** Undefined until the first connection has succeeded or failed. */
  current: KnownStoreState | undefined;
  /** Whether it has ever answered: a replica that has never reached its store knows nothing of what others created. */
  wasReached = false;
  readonly #listeners: StoreStateListener[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Why the store cannot be used; undefined while it can, and until it has been tried once. */
  get trouble(): string | undefined {
    return this.current?.condition === 'answers' ? undefined : this.current?.reason;
  }

  /**
   * Whether renewals are blocked by the store: it refuses, or it is silent and the merchant's replicas may not go on
   * alone.
   */
  blocksRenewal({ onStoreOutage }: Pick<SessionSettings, 'onStoreOutage'>): boolean {
    const condition = this.current?.condition;
    return condition === 'refuses' || (condition === 'silent' && onStoreOutage === 'fail');
  }

  note(condition: StoreCondition, reason: string): void {
    this.wasReached ||= condition === 'answers';
    const known = this.current;
    const isSame = known !== undefined && (known.condition === 'answers') === (condition === 'answers');
    const since = isSame ? known.since : this.#clock.now();
    this.current = { condition, since, reason };
    for (const tell of this.#listeners) tell(this.current);
  }

  /** Calls the listener on every change from now on. */
  onChange(listener: StoreStateListener): void {
    this.#listeners.push(listener);
  }
}
