import type { Clock } from '#libs/clock';
import { BrokerError } from '#libs/errors';
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
} from '#libs/session';
import { Announcer, type ListenerErrorHandler } from '../announcer.js';
import { assertOfferable, assertPublishable } from '../publication.js';
import { MerchantLedger } from './merchant-ledger.js';
import { Seats } from './seats.js';
import type { StoreTime } from './store-moment.js';

interface MemorySessionStoreOptions {
  readonly clock: Clock;
  /** By default, what a listener throws surfaces as an uncaught exception. */
  readonly onListenerError?: ListenerErrorHandler;
}

/**
 * The store of a broker that runs alone: it lives and dies with the process. One instance may serve several replicas in
 * one process. Each operation runs to its end without yielding, which makes it atomic.
 */
export class MemorySessionStore implements SessionStore {
  readonly #clock: Clock;
  readonly #announcer: Announcer;
  readonly #ledger = new MerchantLedger();
  readonly #seats = new Seats();
  #closed = false;

  constructor(options: MemorySessionStoreOptions) {
    this.#clock = options.clock;
    this.#announcer = new Announcer(options.onListenerError);
  }

  enrol(merchants: readonly string[]): Promise<void> {
    return this.#atomically((time) => this.#ledger.enrol(merchants, time));
  }

  seat(owner: string): Promise<number> {
    return this.#atomically(() => this.#seats.seatOf(owner));
  }

  due(limit: number): Promise<DueMerchants> {
    return this.#atomically((time) => this.#ledger.due(limit, time));
  }

  claim(request: ClaimRequest): Promise<ClaimResult> {
    return this.#atomically((time) => this.#ledger.claim(request, time));
  }

  publish(lease: Lease, publication: Publication): Promise<'published' | 'fenced'> {
    return this.#atomically((time) => {
      assertPublishable(lease, publication.session);
      const { result, hasChanged } = this.#ledger.publish(lease, publication, time);
      const { merchant, fence: generation } = lease;
      if (hasChanged) this.#announcer.announce({ kind: 'changed', merchant, generation });
      return result;
    });
  }

  offer(offer: Offer): Promise<OfferResult> {
    return this.#atomically((time) => {
      assertOfferable(offer.session);
      const { result, hasChanged } = this.#ledger.offer(offer, time);
      const { merchant, generation } = offer.session;
      if (hasChanged) this.#announcer.announce({ kind: 'changed', merchant, generation });
      return result;
    });
  }

  release(lease: Lease, release: LeaseRelease): Promise<boolean> {
    return this.#atomically((time) => {
      const released = this.#ledger.release(lease, release, time);
      const { merchant } = lease;
      if (released && release.failure !== undefined) this.#announcer.announce({ kind: 'changed', merchant });
      return released;
    });
  }

  condemn(merchant: string, generation: number): Promise<boolean> {
    return this.#atomically(() => {
      const { result, hasChanged } = this.#ledger.condemn(merchant, generation);
      if (hasChanged) this.#announcer.announce({ kind: 'changed', merchant });
      return result;
    });
  }

  reportDead(merchant: string, report: DeathReport): Promise<boolean> {
    return this.#atomically((time) => {
      const isKept = this.#ledger.reportDead(merchant, report, time);
      if (isKept) this.#announcer.announce({ kind: 'changed', merchant });
      return isKept;
    });
  }

  read(wanted: readonly WantedState[]): Promise<StoredStates> {
    return this.#atomically((time) => ({
      states: wanted.map((one) => this.#ledger.read(one, time)),
      now: time.wall,
    }));
  }

  announce(signal: ReplicaSignal): Promise<number> {
    return this.#atomically(() => {
      this.#announcer.announce(signal);
      return this.#announcer.listeners;
    });
  }

  onAnnouncement(listener: (announcement: Announcement) => void): () => void {
    return this.#announcer.subscribe(listener);
  }

  close(): Promise<void> {
    this.#closed = true;
    this.#announcer.close();
    return Promise.resolve();
  }

  #atomically<Result>(operation: (time: StoreTime) => Result): Promise<Result> {
    return new Promise((resolve) => {
      if (this.#closed) throw new BrokerError('store_unavailable', { detail: 'the store is closed' });
      resolve(operation({ monotonicMs: this.#clock.monotonicMs(), wall: this.#clock.now() }));
    });
  }
}
