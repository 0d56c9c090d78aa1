import type { Clock, Instant } from '#libs/clock';

/**
 * A store `answers`; `refuses`: it answers that it will not, for a reason that a person has to mend; or is `silent`.
 * Only silence is an outage in which replicas may go on alone.
 */
export type StoreCondition = 'answers' | 'refuses' | 'silent';

export interface KnownStoreState {
  readonly condition: StoreCondition;
  /** Since when it is in this condition. */
  readonly since: Instant;
  /** One line without secrets: of a refusal the reply's code, such as `NOPERM`. */
  readonly reason: string;
}

/** How the store is, as this replica's connection to it finds out: for metrics, readiness and the status page. */
export class StoreState {
  readonly #clock: Clock;
  #current: KnownStoreState | undefined;
  #wasReached = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined until the first connection has succeeded or failed. */
  get current(): KnownStoreState | undefined {
    return this.#current;
  }

  /** Whether it has ever answered: a replica that never reached its store knows nothing of what others made. */
  get wasReached(): boolean {
    return this.#wasReached;
  }

  note(condition: StoreCondition, reason: string): void {
    this.#wasReached ||= condition === 'answers';
    const since = this.#current?.condition === condition ? this.#current.since : this.#clock.now();
    this.#current = { condition, since, reason };
  }
}
