import type { Clock } from '#libs/clock';
import type { StoreTrouble } from './merchant-condition.js';
import type { SessionEvents } from './ports/session-events.js';
import type {
  Announcement,
  ClaimRequest,
  ClaimResult,
  DeathReport,
  DueMerchants,
  Lease,
  LeaseRelease,
  Offer,
  OfferResult,
  Publication,
  ReplicaSignal,
  SessionStore,
  StoredStates,
  WantedState,
} from './ports/session-store.js';
import { isStoreOutage, isStoreSilence } from './store-outage.js';
import { StoreSilence } from './store-silence.js';

/** A shorter failure is a lost reply: no replica has gone on without the store in the meantime. */
const MIN_OUTAGE_MS = 1_000;

/** The other operations that an operation's success shows to work again, in case nobody asks for those any more. */
const alsoShows: Readonly<Record<string, readonly string[]>> = {
  claim: ['release', 'condemn', 'reportDead'],
  publish: ['offer', 'release', 'condemn', 'reportDead', 'announce'],
  offer: ['publish', 'announce'],
};

/** Not an operation of the store: the success of a single one does not show that the rest would succeed. */
const LOOKED_AT = 'looked at';

interface ObservedStoreParts {
  readonly events: SessionEvents;
  readonly clock: Clock;
  readonly onReturn: () => void;
}

/**
 * The store with a witness: reports each operation that the store refused or did not answer, and the first answer after
 * that, and knows how long it has been silent. Only it reports these failures, so that callers may act on an outage
 * without reporting it again.
 */
export class ObservedStore implements SessionStore {
  readonly silence: StoreSilence;
  readonly #store: SessionStore;
  readonly #events: SessionEvents;
  readonly #clock: Clock;
  readonly #onReturn: () => void;
  /** What was refused and has not succeeded since. */
  readonly #refused = new Set<string>();
  #trouble: StoreTrouble | undefined;
  /** Since when nothing has succeeded. */
  #failingSinceMs: number | undefined;

  /** @param onReturn called with the first answer after an outage, before the caller gets it */
  constructor(store: SessionStore, { events, clock, onReturn }: ObservedStoreParts) {
    this.#store = store;
    this.#events = events;
    this.#clock = clock;
    this.#onReturn = onReturn;
    this.silence = new StoreSilence(clock);
  }

  /** What is wrong now: a silence ends with any answer, a refusal once what was refused succeeds. */
  get trouble(): StoreTrouble | undefined {
    return this.#trouble;
  }

  enrol(merchants: readonly string[]): Promise<void> {
    return this.#watch('enrol', () => this.#store.enrol(merchants));
  }

  seat(owner: string): Promise<number> {
    return this.#watch('seat', () => this.#store.seat(owner));
  }

  due(limit: number): Promise<DueMerchants> {
    return this.#watch('due', () => this.#store.due(limit));
  }

  claim(request: ClaimRequest): Promise<ClaimResult> {
    return this.#watch('claim', () => this.#store.claim(request));
  }

  publish(lease: Lease, publication: Publication): Promise<'published' | 'fenced'> {
    return this.#watch('publish', () => this.#store.publish(lease, publication));
  }

  offer(offer: Offer): Promise<OfferResult> {
    return this.#watch('offer', () => this.#store.offer(offer));
  }

  release(lease: Lease, release: LeaseRelease): Promise<boolean> {
    return this.#watch('release', () => this.#store.release(lease, release));
  }

  condemn(merchant: string, generation: number): Promise<boolean> {
    return this.#watch('condemn', () => this.#store.condemn(merchant, generation));
  }

  reportDead(merchant: string, report: DeathReport): Promise<boolean> {
    return this.#watch('reportDead', () => this.#store.reportDead(merchant, report));
  }

  read(wanted: readonly WantedState[]): Promise<StoredStates> {
    return this.#watch('read', () => this.#store.read(wanted));
  }

  announce(signal: ReplicaSignal): Promise<number | undefined> {
    return this.#watch('announce', () => this.#store.announce(signal));
  }

  onAnnouncement(listener: (announcement: Announcement) => void): () => void {
    return this.#store.onAnnouncement(listener);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  /**
   * A check found that the store refuses something it is asked for now and then: callers that have not asked for it
   * since cannot know.
   */
  noteRefusal(): void {
    this.#refused.add(LOOKED_AT);
    this.#trouble ??= 'refuses';
  }

  /** A check found that the store does everything it is ever asked for. */
  noteWell(): void {
    this.#refused.clear();
    this.#tellIfWell();
  }

  async #watch<Result>(operation: string, ask: () => Promise<Result>): Promise<Result> {
    const askedAtMs = this.#clock.monotonicMs();
    try {
      const result = await ask();
      this.silence.answered();
      this.#succeeded(operation);
      return result;
    } catch (error) {
      if (!isStoreOutage(error)) throw error;
      if (isStoreSilence(error)) this.silence.unanswered(askedAtMs);
      else this.silence.answered();
      this.#failingSinceMs ??= askedAtMs;
      this.#trouble = isStoreSilence(error) ? 'silent' : 'refuses';
      if (this.#trouble === 'refuses') this.#refused.add(operation);
      this.#events.emit({ event: 'store_failed', operation, error });
      throw error;
    }
  }

  #succeeded(operation: string): void {
    const sinceMs = this.#failingSinceMs;
    this.#failingSinceMs = undefined;
    if (sinceMs !== undefined && this.#clock.monotonicMs() - sinceMs >= MIN_OUTAGE_MS) this.#onReturn();
    for (const done of [operation, ...(alsoShows[operation] ?? [])]) this.#refused.delete(done);
    this.#tellIfWell();
  }

  /** Any answer ends a silence; a refused operation is well again once it has succeeded. */
  #tellIfWell(): void {
    if (this.#trouble === undefined) return;
    this.#trouble = this.#refused.size > 0 ? 'refuses' : undefined;
    if (this.#trouble !== undefined) return;
    this.#events.emit({ event: 'store_recovered' });
  }
}
