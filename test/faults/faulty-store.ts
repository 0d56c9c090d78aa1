import { BrokerError } from '#libs/errors';
import type { Announcement, SessionStore } from '#libs/session';

type Operation = Exclude<keyof SessionStore, 'onAnnouncement' | 'close'>;

/** The store as one replica sees it, through a network that can be cut and that can lose announcements and answers. */
export class FaultyStore {
  state: 'answers' | 'silent' | 'refuses' = 'answers';
  losesAnnouncements = false;
  /** The next call of this operation is applied, and its answer lost. */
  losesNextAnswerOf: Operation | undefined;
  /** What was asked, in order, whether or not it was answered. */
  readonly asked: { readonly operation: Operation; readonly arguments: readonly unknown[] }[] = [];
  readonly view: SessionStore;
  readonly #listeners = new Set<(announcement: Announcement) => void>();
  #store: SessionStore;
  #endSubscription: () => void = () => undefined;
  #stalled: { readonly operation: Operation; readonly until: Promise<void> } | undefined;

  constructor(store: SessionStore) {
    this.#store = store;
    this.view = new Proxy(store, { get: (_target, name) => this.#member(name as keyof SessionStore) });
    this.attach(store);
  }

  /** Puts another store in place of the previous one: an empty one, or an older copy. */
  attach(store: SessionStore): void {
    this.#endSubscription();
    this.#store = store;
    this.#endSubscription = store.onAnnouncement((announcement) => {
      if (this.state === 'answers' && !this.losesAnnouncements) this.announce(announcement);
    });
  }

  /** Holds back the next answer to this operation until the returned function is called. */
  holdNextAnswerOf(operation: Operation): () => void {
    let release: () => void = () => undefined;
    this.#stalled = { operation, until: new Promise((resolve) => (release = resolve)) };
    return () => release();
  }

  set down(isDown: boolean) {
    this.state = isDown ? 'silent' : 'answers';
  }

  asksFor(operation: Operation): number {
    return this.asked.filter((question) => question.operation === operation).length;
  }

  /** Anyone who can write to the channel can say anything. */
  announce(announcement: Announcement): void {
    for (const listener of this.#listeners) listener(announcement);
  }

  #member(name: keyof SessionStore): unknown {
    if (name === 'close') return () => this.#store.close();
    if (name === 'onAnnouncement') return (listener: (told: Announcement) => void) => this.#subscribe(listener);
    return (...parameters: unknown[]) => this.#ask(name, parameters);
  }

  #subscribe(listener: (announcement: Announcement) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async #ask(operation: Operation, parameters: readonly unknown[]): Promise<unknown> {
    this.asked.push({ operation, arguments: parameters });
    if (this.state === 'silent') throw new BrokerError('store_unavailable');
    if (this.state === 'refuses') throw new BrokerError('store_refused', { detail: `${operation}: NOPERM` });
    const ask = Reflect.get(this.#store, operation) as (...all: unknown[]) => Promise<unknown>;
    const answer = await Reflect.apply(ask, this.#store, parameters);
    if (this.#stalled?.operation === operation) {
      const { until } = this.#stalled;
      this.#stalled = undefined;
      await until;
    }
    if (this.losesNextAnswerOf !== operation) return answer;
    this.losesNextAnswerOf = undefined;
    throw new BrokerError('store_unavailable');
  }
}
