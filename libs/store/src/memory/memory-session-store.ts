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
  Publication,
  ReplicaSignal,
  ReportResult,
  SessionStore,
  StoredStates,
  WantedState,
} from '#libs/session';
import { Announcer } from '../announcer.js';
import {
  assertPublishable,
  claimIn,
  dueIn,
  type MerchantRecord,
  newRecord,
  type Outcome,
  publishIn,
  releaseIn,
  reportIn,
  stateIn,
  type StoreTime,
} from './merchant-record.js';

/**
 * The store of a broker that runs alone: it lives and dies with the process. One instance may serve several replicas in
 * one process. Each operation runs to its end without yielding, which makes it atomic.
 */
export class MemorySessionStore implements SessionStore {
  readonly #clock: Clock;
  readonly #announcer = new Announcer();
  readonly #records = new Map<string, MerchantRecord>();
  #closed = false;

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  read(wanted: readonly WantedState[]): Promise<StoredStates> {
    return this.#atomically((time) => {
      const states = wanted.map((one) => {
        const record = this.#records.get(one.merchant) ?? newRecord(time);
        this.#records.set(one.merchant, record);
        return stateIn(record, one, time);
      });
      return { states, now: time.wall };
    });
  }

  due(limit: number): Promise<DueMerchants> {
    return this.#atomically((time) => dueIn(this.#records, limit, time));
  }

  claim(request: ClaimRequest): Promise<ClaimResult> {
    return this.#on(request.merchant, (record, time) => claimIn(record, request, time));
  }

  publish(publication: Publication, lease?: Lease): Promise<'published' | 'fenced'> {
    return this.#on(publication.session.merchant, (record, time) => {
      assertPublishable(publication.session, lease);
      return publishIn(record, publication, { lease, time });
    });
  }

  release(lease: Lease, release: LeaseRelease): Promise<boolean> {
    return this.#on(lease.merchant, (record, time) => releaseIn(record, lease, { release, time }));
  }

  report(merchant: string, report: DeathReport): Promise<ReportResult> {
    return this.#on(merchant, (record, time) => reportIn(record, merchant, { report, time }));
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

  #on<Answer>(
    merchant: string,
    operation: (record: MerchantRecord, time: StoreTime) => Outcome<Answer>,
  ): Promise<Answer> {
    return this.#atomically((time) => {
      const before = this.#records.get(merchant) ?? newRecord(time);
      const { record, answer, announcement } = operation(before, time);
      // What an operation leaves as it is does not make a merchant known.
      if (record !== before) this.#records.set(merchant, record);
      if (announcement !== undefined) this.#announcer.announce(announcement);
      return answer;
    });
  }

  #atomically<Result>(operation: (time: StoreTime) => Result): Promise<Result> {
    return new Promise((resolve) => {
      if (this.#closed) throw new BrokerError('store_unavailable', { detail: 'the store is closed' });
      resolve(operation({ monotonicMs: this.#clock.monotonicMs(), wall: this.#clock.now() }));
    });
  }
}
