import type { Clock } from '#libs/clock';
import type { SessionEvent, SessionEvents } from '#libs/session';
import type { StatusStore } from './status-document.js';

/** Whether the store answers: by its connection, and by what became of the operations on it. */
export class StoreHealth implements SessionEvents {
  readonly #type: StatusStore['type'];
  readonly #clock: Clock;
  #connection: { readonly up: boolean; readonly since: number } | undefined;
  #failing: StatusStore['failing'];

  constructor(type: StatusStore['type'], clock: Clock) {
    this.#type = type;
    this.#clock = clock;
  }

  setUp(up: boolean): void {
    if (this.#connection?.up !== up) this.#connection = { up, since: this.#clock.now() };
  }

  emit(event: SessionEvent): void {
    if (event.event === 'store_failed') this.#failing = { operation: event.operation, at: this.#clock.now() };
    if (event.event === 'store_recovered') this.#failing = undefined;
  }

  describe(): StatusStore {
    return {
      type: this.#type,
      ...this.#connection,
      ...(this.#failing === undefined ? {} : { failing: this.#failing }),
    };
  }
}
