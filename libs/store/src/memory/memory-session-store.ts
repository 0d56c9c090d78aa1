import type { Clock } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import type {
  Announcement,
  ClaimRequest,
  ClaimResult,
  DueMerchants,
  Lease,
  LeaseRelease,
  Session,
  SessionStore,
  StoredState,
} from '#libs/session';
import { Announcer, type ListenerErrorHandler } from '../announcer.js';
import { assertPublishable } from '../publication.js';
import { MerchantLedger, type Moment } from './merchant-ledger.js';

export interface MemorySessionStoreOptions {
  readonly clock: Clock;
  /** Default: what a listener threw surfaces as an uncaught exception. */
  readonly onListenerError?: ListenerErrorHandler;
}

/**
 * The store of a broker that runs alone: it lives and dies with the process. One instance may serve several replicas
 * of one process. Each operation runs to its end without giving way, which is what makes it atomic.
 */
export class MemorySessionStore implements SessionStore {
  readonly #clock: Clock;
  readonly #announcer: Announcer;
  readonly #ledger = new MerchantLedger();
  #closed = false;

  constructor(options: MemorySessionStoreOptions) {
    this.#clock = options.clock;
    this.#announcer = new Announcer(options.onListenerError);
  }

  enrol(merchants: readonly string[]): Promise<void> {
    return this.#atomically((moment) => this.#ledger.enrol(merchants, moment));
  }

  due(limit: number): Promise<DueMerchants> {
    return this.#atomically((moment) => this.#ledger.due(limit, moment));
  }

  claim(request: ClaimRequest): Promise<ClaimResult> {
    return this.#atomically((moment) => this.#ledger.claim(request, moment));
  }

  publish(lease: Lease, session: Session, nextDueInMs: number): Promise<'published' | 'fenced'> {
    return this.#atomically((moment) => {
      assertPublishable(lease, session);
      const outcome = this.#ledger.publish(lease, { session, nextDueInMs }, moment);
      if (outcome === 'fenced') return 'fenced';
      const { merchant, fence: generation } = lease;
      if (outcome === 'published') this.#announcer.announce({ kind: 'published', merchant, generation });
      return 'published';
    });
  }

  release(lease: Lease, release: LeaseRelease): Promise<boolean> {
    return this.#atomically((moment) => {
      const released = this.#ledger.release(lease, release, moment);
      const { failure, nextDueInMs: retryInMs } = release;
      if (released && failure !== undefined) {
        this.#announcer.announce({ kind: 'failed', merchant: lease.merchant, failure, retryInMs });
      }
      return released;
    });
  }

  read(merchants: readonly string[]): Promise<readonly StoredState[]> {
    return this.#atomically((moment) => merchants.map((merchant) => this.#ledger.read(merchant, moment)));
  }

  onAnnouncement(listener: (announcement: Announcement) => void): () => void {
    return this.#announcer.subscribe(listener);
  }

  close(): Promise<void> {
    this.#closed = true;
    this.#announcer.close();
    return Promise.resolve();
  }

  #atomically<Result>(operation: (moment: Moment) => Result): Promise<Result> {
    return new Promise((resolve) => {
      if (this.#closed) throw new BrokerError('store_unavailable', { detail: 'the store is closed' });
      resolve(operation({ monotonicMs: this.#clock.monotonicMs(), wallMs: this.#clock.now() }));
    });
  }
}
