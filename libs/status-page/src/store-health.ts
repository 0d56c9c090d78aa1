import { toldStore } from '#libs/causes';
import type { Clock } from '#libs/clock';
import type { SessionEvent, SessionEvents } from '#libs/session';
import type { StatusStore } from './status-document.js';
import type { StoreConnection } from './status-source.js';
import { storeWork } from './store-work.js';

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
    if (event.event === 'store_failed') this.#failing = { work: storeWork(event.operation), at: this.#clock.now() };
    if (event.event === 'store_recovered') this.#failing = undefined;
  }

  describe(): StatusStore {
    const { type, condition, since, reason } = this.#connection();
    const isAway = condition === 'refuses' || condition === 'silent';
    return {
      type,
      ...(condition === undefined ? {} : { condition }),
      ...(since === undefined ? {} : { since }),
      // There is nothing to explain about a store that answers.
      ...(reason === undefined || condition === 'answers' ? {} : { reason }),
      ...(isAway ? { cause: toldStore(condition, reason) } : {}),
      // Nothing more is asked of a store that refuses or is silent: the last request says nothing about what it cannot
      // do.
      ...(this.#failing === undefined || isAway ? {} : { failing: this.#failing }),
    };
  }
}
