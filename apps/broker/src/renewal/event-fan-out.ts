import type { SessionEvent, SessionEvents } from '#libs/session';

/** Tells each event of the domain to everybody who listens, in the order in which they came. */
export class EventFanOut implements SessionEvents {
  readonly #listeners: SessionEvents[];

  constructor(...listeners: readonly SessionEvents[]) {
    this.#listeners = [...listeners];
  }

  /** Told of every event from now on. */
  listen(listener: SessionEvents): void {
    this.#listeners.push(listener);
  }

  emit(event: SessionEvent): void {
    for (const listener of this.#listeners) listener.emit(event);
  }
}
