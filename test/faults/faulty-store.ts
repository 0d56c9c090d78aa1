import { BrokerError } from '#libs/errors';
import type { Announcement, SessionStore } from '#libs/session';

type Operation = Exclude<keyof SessionStore, 'onAnnouncement' | 'close'>;

/** The store as one replica sees it through a network that can be cut, and that can lose announcements and answers. */
export class FaultyStore {
  state: 'answers' | 'silent' | 'refuses' = 'answers';
  losesAnnouncements = false;
  /** The next one is applied, and its answer lost. */
  losesNextAnswerOf: Operation | undefined;
  /** What was asked, in order, whether it was answered or not. */
  readonly asked: { readonly operation: Operation; readonly arguments: readonly unknown[] }[] = [];
  readonly view: SessionStore;
  readonly #listeners = new Set<(announcement: Announcement) => void>();

  constructor(store: SessionStore) {
    this.view = new Proxy(store, { get: (target, name) => this.#member(target, name as keyof SessionStore) });
  }

  set down(isDown: boolean) {
    this.state = isDown ? 'silent' : 'answers';
  }

  asksFor(operation: Operation): number {
    return this.asked.filter((question) => question.operation === operation).length;
  }

  /** Whoever can write to the channel can say anything. */
  announce(announcement: Announcement): void {
    for (const listener of this.#listeners) listener(announcement);
  }

  #member(store: SessionStore, name: keyof SessionStore): unknown {
    if (name === 'close') return () => store.close();
    if (name === 'onAnnouncement') return (listener: (told: Announcement) => void) => this.#subscribe(store, listener);
    return (...parameters: unknown[]) => this.#ask(store, name, parameters);
  }

  #subscribe(store: SessionStore, listener: (announcement: Announcement) => void): () => void {
    this.#listeners.add(listener);
    const end = store.onAnnouncement((announcement) => {
      if (this.state === 'answers' && !this.losesAnnouncements) listener(announcement);
    });
    return () => {
      this.#listeners.delete(listener);
      end();
    };
  }

  async #ask(store: SessionStore, operation: Operation, parameters: readonly unknown[]): Promise<unknown> {
    this.asked.push({ operation, arguments: parameters });
    if (this.state === 'silent') throw new BrokerError('store_unavailable');
    if (this.state === 'refuses') throw new BrokerError('store_refused', { detail: `${operation}: NOPERM` });
    const answer: unknown = await Reflect.apply(Reflect.get(store, operation) as () => unknown, store, parameters);
    if (this.losesNextAnswerOf !== operation) return answer;
    this.losesNextAnswerOf = undefined;
    throw new BrokerError('store_unavailable');
  }
}
