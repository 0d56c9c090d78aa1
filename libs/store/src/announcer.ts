import type { Announcement } from '#libs/session';

type Listener = (announcement: Announcement) => void;

/** Receives what a listener threw: a bug in our own code, which must not keep other listeners from being notified. */
export type ListenerErrorHandler = (error: unknown) => void;

/** Nobody asked for it, so the bug surfaces as what it is: an uncaught exception. */
const surface: ListenerErrorHandler = (error) => {
  queueMicrotask(() => {
    throw error;
  });
};

/** Hands announcements to the listeners of this process: asynchronously, in order, and each listener on its own. */
export class Announcer {
  readonly #listeners = new Map<symbol, Listener>();
  readonly #onListenerError: ListenerErrorHandler;

  constructor(onListenerError: ListenerErrorHandler = surface) {
    this.#onListenerError = onListenerError;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /**
   * @returns a function that ends the subscription; an announcement already under way is then not delivered any more
   */
  subscribe(listener: Listener): () => void {
    const subscription = Symbol('subscription');
    this.#listeners.set(subscription, listener);
    return () => void this.#listeners.delete(subscription);
  }

  announce(announcement: Announcement): void {
    for (const subscription of this.#listeners.keys()) {
      queueMicrotask(() => this.#deliver(subscription, announcement));
    }
  }

  close(): void {
    this.#listeners.clear();
  }

  #deliver(subscription: symbol, announcement: Announcement): void {
    try {
      this.#listeners.get(subscription)?.(announcement);
    } catch (error) {
      this.#onListenerError(error);
    }
  }
}
