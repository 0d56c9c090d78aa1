import { isStoreOutage } from './store-outage.js';
import type { SessionEvents } from './ports/session-events.js';
import type {
  Announcement,
  ClaimRequest,
  ClaimResult,
  DueMerchants,
  Lease,
  LeaseRelease,
  SessionStore,
  StoredState,
} from './ports/session-store.js';
import type { Session } from './session.js';

/**
 * The store with a witness: reports each operation that the store did not answer, and the first answer after that.
 * It is the one owner of these failures, so that callers may act on an outage without reporting it again.
 */
export class ObservedStore implements SessionStore {
  readonly #store: SessionStore;
  readonly #events: SessionEvents;
  #failing = false;

  constructor(store: SessionStore, events: SessionEvents) {
    this.#store = store;
    this.#events = events;
  }

  enrol(merchants: readonly string[]): Promise<void> {
    return this.#watch('enrol', this.#store.enrol(merchants));
  }

  due(limit: number): Promise<DueMerchants> {
    return this.#watch('due', this.#store.due(limit));
  }

  claim(request: ClaimRequest): Promise<ClaimResult> {
    return this.#watch('claim', this.#store.claim(request));
  }

  publish(lease: Lease, session: Session, nextDueInMs: number): Promise<'published' | 'fenced'> {
    return this.#watch('publish', this.#store.publish(lease, session, nextDueInMs));
  }

  release(lease: Lease, release: LeaseRelease): Promise<boolean> {
    return this.#watch('release', this.#store.release(lease, release));
  }

  read(merchants: readonly string[]): Promise<readonly StoredState[]> {
    return this.#watch('read', this.#store.read(merchants));
  }

  onAnnouncement(listener: (announcement: Announcement) => void): () => void {
    return this.#store.onAnnouncement(listener);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #watch<Result>(operation: string, answer: Promise<Result>): Promise<Result> {
    try {
      const result = await answer;
      if (this.#failing) this.#events.emit({ event: 'store_recovered' });
      this.#failing = false;
      return result;
    } catch (error) {
      if (isStoreOutage(error)) {
        this.#failing = true;
        this.#events.emit({ event: 'store_failed', operation, error });
      }
      throw error;
    }
  }
}
