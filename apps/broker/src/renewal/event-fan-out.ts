import type { SessionEvent, SessionEvents } from '#libs/session';

/** Tells several listeners of each event, in order. */
export class EventFanOut implements SessionEvents {
  readonly #listeners: readonly SessionEvents[];

  constructor(...listeners: readonly SessionEvents[]) {
    this.#listeners = listeners;
  }

  emit(event: SessionEvent): void {
    for (const listener of this.#listeners) listener.emit(event);
  }
}
