import { BrokerError } from '#libs/errors';
import type { Announcement, SessionStore, StoredStates } from '#libs/session';

type Operation = Exclude<keyof SessionStore, 'onAnnouncement' | 'close'>;

/** The store as one replica sees it, through a network that can be cut and that can lose announcements and answers. */
export class FaultyStore {
  state: 'answers' | 'silent' = 'answers';
  losesAnnouncements = false;
  /** What these operations fail with, although the store answers. */
  failures: { readonly [Name in Operation]?: Error } = {};
  /** The replica lacks the key that sessions are sealed to. */
  lacksKey = false;
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

  asksFor(operation: Operation): number {
    return this.asked.filter((question) => question.operation === operation).length;
  }

  readsOf(merchant: string): number {
    const about = this.asked.filter((question) => JSON.stringify(question.arguments).includes(`"${merchant}"`));
    return about.filter(({ operation }) => operation === 'read').length;
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
    const failure = this.failures[operation];
    if (failure !== undefined) throw failure;
    const ask = Reflect.get(this.#store, operation) as (...all: unknown[]) => Promise<unknown>;
    const answer = this.#opened(await Reflect.apply(ask, this.#store, parameters));
    if (this.#stalled?.operation === operation) {
      const { until } = this.#stalled;
      this.#stalled = undefined;
      await until;
    }
    if (this.losesNextAnswerOf !== operation) return answer;
    this.losesNextAnswerOf = undefined;
    throw new BrokerError('store_unavailable');
  }

  #opened(answer: unknown): unknown {
    if (!this.lacksKey || typeof answer !== 'object' || answer === null || !('states' in answer)) return answer;
    const states = (answer as StoredStates).states.map((state) =>
      state.stored.kind === 'session'
        ? { ...state, stored: { kind: 'unopenable', generation: state.stored.session.generation } }
        : state,
    );
    return { ...answer, states };
  }
}

/** A store with one operation that does what the test says. */
export function altered<Name extends keyof SessionStore>(
  name: Name,
  make: (store: SessionStore) => SessionStore[Name],
): (store: SessionStore) => SessionStore {
  return (store: SessionStore): SessionStore =>
    new Proxy(store, {
      get: (target, asked) => {
        const member: unknown = asked === name ? make(target) : Reflect.get(target, asked);
        return typeof member === 'function' ? (member as () => unknown).bind(target) : member;
      },
    });
}
