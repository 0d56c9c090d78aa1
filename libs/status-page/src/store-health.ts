import { toldStore } from '#libs/causes';
import type { Clock } from '#libs/clock';
import type { SessionEvent, SessionEvents } from '#libs/session';
import type { StatusStore } from './status-document.js';
import type { StoreConnection } from './status-source.js';

/** What is asked of the store, in the words of the person on call. */
const works: ReadonlyMap<string, string> = new Map([
  ['due', 'asking what is due'],
  ['claim', 'asking whether it may renew'],
  ['publish', 'storing a new session'],
  ['release', 'writing down how an attempt ended'],
  ['report', 'writing down a reported dead session'],
  ['read', 'reading sessions'],
  ['announce', 'telling the other replicas'],
]);

/** Whether the store can be used: judged by its connection, and by how the operations on it ended. */
export class StoreHealth implements SessionEvents {
  readonly #connection: () => StoreConnection;
  readonly #clock: Clock;
  #failing: StatusStore['failing'];

  constructor(connection: () => StoreConnection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  emit(event: SessionEvent): void {
    if (event.event === 'store_failed') {
      this.#failing = { work: works.get(event.operation) ?? event.operation, at: this.#clock.now() };
    }
    if (event.event === 'store_recovered') this.#failing = undefined;
  }

  describe(): StatusStore {
    const { type, condition, since, reason } = this.#connection();
    const isAway = condition === 'refuses' || condition === 'silent';
    return {
      type,
      condition,
      since,
      // There is nothing to explain about a store that answers.
      reason: condition === 'answers' ? undefined : reason,
      cause: isAway ? toldStore(condition, reason) : undefined,
      // Nothing more is asked of a store that refuses or is silent: the last request says nothing about what it cannot
      // do.
      failing: isAway ? undefined : this.#failing,
    };
  }
}
