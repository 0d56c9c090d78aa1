import type { Clock } from '#libs/clock';
import type { SessionEvent, SessionEvents } from '#libs/session';
import type { StoreState } from '../../renewal/store-state.js';
import type { StatusStore } from './status-document.js';

/** Whether the store can be used: by its connection, and by what became of the operations on it. */
export class StoreHealth implements SessionEvents {
  readonly #type: StatusStore['type'];
  readonly #state: Pick<StoreState, 'current'>;
  readonly #clock: Clock;
  #failing: StatusStore['failing'];

  constructor(type: StatusStore['type'], state: Pick<StoreState, 'current'>, clock: Clock) {
    this.#type = type;
    this.#state = state;
    this.#clock = clock;
  }

  emit(event: SessionEvent): void {
    if (event.event === 'store_failed') this.#failing = { operation: event.operation, at: this.#clock.now() };
    if (event.event === 'store_recovered') this.#failing = undefined;
  }

  describe(): StatusStore {
    return {
      type: this.#type,
      ...this.#connection(),
      ...(this.#failing === undefined ? {} : { failing: this.#failing }),
    };
  }

  #connection(): Pick<StatusStore, 'condition' | 'since' | 'reason'> {
    const { current } = this.#state;
    if (current === undefined) return {};
    const { condition, since, reason } = current;
    return condition === 'answers' ? { condition, since } : { condition, since, reason };
  }
}
