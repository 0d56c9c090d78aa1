import type { SessionEvent, SessionEvents } from '#libs/session';

/** Passes each event of the domain to every listener, in order of arrival. */
export class EventFanOut implements SessionEvents {
  readonly #listeners: SessionEvents[];

  constructor(...listeners: readonly SessionEvents[]) {
    this.#listeners = [...listeners];
  }

  /** The listener gets every event from now on. */
  listen(listener: SessionEvents): void {
    this.#listeners.push(listener);
  }

  emit(event: SessionEvent): void {
    for (const listener of this.#listeners) listener.emit(event);
  }
}
