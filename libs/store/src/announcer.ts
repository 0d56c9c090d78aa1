import type { Announcement } from '#libs/session';

type Listener = (announcement: Announcement) => void;

/**
 * Hands announcements to the listeners of this process: asynchronously, in order, and each listener on its own, so that
 * what one throws is an uncaught exception and keeps no other from being notified.
 */
export class Announcer {
  readonly #subscriptions = new Set<{ readonly listener: Listener }>();

  get listeners(): number {
    return this.#subscriptions.size;
  }

  /** @returns a function that ends the subscription; nothing that is under way is delivered any more */
  subscribe(listener: Listener): () => void {
    const subscription = { listener };
    this.#subscriptions.add(subscription);
    return () => void this.#subscriptions.delete(subscription);
  }

  announce(announcement: Announcement): void {
    for (const subscription of this.#subscriptions) {
      queueMicrotask(() => {
        if (this.#subscriptions.has(subscription)) subscription.listener(announcement);
      });
    }
  }

  close(): void {
    this.#subscriptions.clear();
  }
}
