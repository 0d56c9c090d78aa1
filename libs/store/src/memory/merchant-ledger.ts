import {
  type ClaimRequest,
  type ClaimResult,
  type DeathReport,
  type DueMerchants,
  failuresAfter,
  type Lease,
  type LeaseRelease,
  type Offer,
  type OfferResult,
  type Publication,
  type StoredSession,
  type StoredState,
  type WantedState,
} from '#libs/session';
import { answerWithoutGrant } from './claim-checks.js';
import { DueQueue } from './due-queue.js';
import { forgetBeyondBelief, nextFence } from './fences.js';
import { type KeptSession, liveLease, type MerchantRecord, newMerchantRecord } from './merchant-record.js';
import { decideOffer } from './offer-decision.js';
import { remainingMs, type StoreMoment, type StoreTime } from './store-moment.js';

/** What was decided, and whether that changed what others see: it is announced only if it did. */
export interface Outcome<Result> {
  readonly result: Result;
  readonly hasChanged: boolean;
}

/** Leases, sessions and due moments of all merchants: the rules of the store port without promises and listeners. */
export class MerchantLedger {
  readonly #due = new DueQueue();
  readonly #records = new Map<string, MerchantRecord>();
  #momentsSet = 0;

  enrol(merchants: readonly string[], { monotonicMs }: StoreTime): void {
    for (const merchant of merchants) {
      if (this.#due.momentOf(merchant) === undefined) this.#fallsDue(merchant, 0, monotonicMs);
    }
  }

  due(limit: number, { monotonicMs }: StoreTime): DueMerchants {
    const { merchants, next } = this.#due.list(monotonicMs, limit);
    return next === undefined ? { merchants } : { merchants, nextDueInMs: remainingMs(next, monotonicMs) };
  }

  claim(request: ClaimRequest, time: StoreTime): ClaimResult {
    const record = this.#recordOf(request.merchant);
    forgetBeyondBelief(record, time.wall, request.floor);
    const facts = { record, due: this.#due.momentOf(request.merchant), nowMs: time.monotonicMs };
    return answerWithoutGrant(request, facts) ?? this.#grant(request, record, time);
  }

  publish(lease: Lease, publication: Publication, { monotonicMs, wall }: StoreTime): Outcome<'published' | 'fenced'> {
    const record = this.#recordOf(lease.merchant);
    forgetBeyondBelief(record, wall, lease.fence);
    const generation = record.stored?.session.generation ?? 0;
    if (generation === lease.fence) return { result: 'published', hasChanged: false };
    if (lease.fence < record.fence || lease.fence < generation) return { result: 'fenced', hasChanged: false };
    record.fence = lease.fence;
    record.stored = kept(publication, monotonicMs, false);
    if (record.lease?.fence === lease.fence && record.lease.owner === lease.owner) record.lease = undefined;
    clearFailures(record);
    this.#fallsDue(lease.merchant, publication.nextDueInMs, monotonicMs);
    return { result: 'published', hasChanged: true };
  }

  offer(offer: Offer, { monotonicMs, wall }: StoreTime): Outcome<OfferResult> {
    const { merchant, generation } = offer.session;
    const record = this.#recordOf(merchant);
    forgetBeyondBelief(record, wall, generation);
    const { result, isNew, keepsLease } = decideOffer(offer, record, monotonicMs);
    if (!isNew) return { result, hasChanged: false };
    record.fence = generation;
    record.stored = kept(offer, monotonicMs, result.isContested);
    if (!keepsLease) {
      record.lease = undefined;
      clearFailures(record);
      this.#fallsDue(merchant, offer.nextDueInMs, monotonicMs);
    }
    return { result, hasChanged: true };
  }

  release(lease: Lease, release: LeaseRelease, { monotonicMs }: StoreTime): boolean {
    const record = this.#recordOf(lease.merchant);
    const live = liveLease(record, monotonicMs);
    if (live?.fence !== lease.fence || live.owner !== lease.owner) return false;
    record.lease = undefined;
    this.#fallsDue(lease.merchant, release.nextDueInMs, monotonicMs);
    if (!release.called) {
      record.calls.giveBack(live.call);
      if (live.coolsDown) record.cooledDown = undefined;
    }
    if (release.failure !== undefined) {
      record.failures = failuresAfter(record.failures, release.called);
      record.failure = release.failure;
    }
    return true;
  }

  condemn(merchant: string, generation: number): Outcome<boolean> {
    const record = this.#records.get(merchant);
    const { stored } = record ?? {};
    if (record === undefined || stored?.session.generation !== generation) return { result: false, hasChanged: false };
    const result = record.fence <= generation && !stored.isContested;
    const hasChanged = result && record.condemned !== generation;
    if (hasChanged) record.condemned = generation;
    return { result, hasChanged };
  }

  reportDead(merchant: string, report: DeathReport, { monotonicMs }: StoreTime): boolean {
    const record = this.#records.get(merchant);
    if (record?.stored?.session.generation !== report.generation) return false;
    record.reportedDead = { report, atMs: monotonicMs - report.ageMs };
    return true;
  }

  read({ merchant, known }: WantedState, { monotonicMs }: StoreTime): StoredState {
    const record = this.#records.get(merchant);
    const due = this.#due.momentOf(merchant);
    return {
      merchant,
      stored: storedSession(record?.stored, known, monotonicMs),
      ...condemnedIn(record),
      ...reportedIn(record, monotonicMs),
      ...(record?.failure === undefined ? {} : { failure: record.failure }),
      ...(due === undefined ? {} : { dueInMs: remainingMs(due, monotonicMs), dueMark: due.mark }),
    };
  }

  #grant(request: ClaimRequest, record: MerchantRecord, { monotonicMs, wall }: StoreTime): ClaimResult {
    const { merchant, owner, leaseMs } = request;
    const fence = nextFence(record, wall, request.floor);
    const endsAtMs = monotonicMs + leaseMs;
    // The end of the lease and the due moment are the same moment: a replica that has watched one need not watch the
    // other.
    const end: StoreMoment = { mark: `lease:${fence}:${endsAtMs}`, endsAtMs, lengthMs: leaseMs };
    const coolsDown = request.coolDownMs > 0;
    record.fence = fence;
    record.lease = { owner, fence, end, coolsDown, call: record.calls.take(monotonicMs) };
    if (coolsDown) record.cooledDown = { fromMs: monotonicMs, mark: `cool:${fence}:${monotonicMs}` };
    this.#due.set(merchant, end);
    return { kind: 'claimed', lease: { merchant, owner, fence, remainingMs: leaseMs, failures: record.failures } };
  }

  #fallsDue(merchant: string, lengthMs: number, nowMs: number): void {
    this.#momentsSet += 1;
    const endsAtMs = nowMs + lengthMs;
    this.#due.set(merchant, { mark: `due:${endsAtMs}:${this.#momentsSet}`, endsAtMs, lengthMs });
  }

  #recordOf(merchant: string): MerchantRecord {
    const known = this.#records.get(merchant);
    if (known !== undefined) return known;
    const record = newMerchantRecord();
    this.#records.set(merchant, record);
    return record;
  }
}

function kept({ session, ageMs }: Publication, nowMs: number, isContested: boolean): KeptSession {
  return { session, answeredAtMs: nowMs - ageMs, isContested };
}

function condemnedIn(record: MerchantRecord | undefined): Pick<StoredState, 'condemned'> {
  const { condemned } = record ?? {};
  return condemned !== undefined && record?.stored?.session.generation === condemned ? { condemned } : {};
}

function reportedIn(record: MerchantRecord | undefined, nowMs: number): Pick<StoredState, 'reportedDead'> {
  const { reportedDead, stored } = record ?? {};
  if (reportedDead === undefined || stored?.session.generation !== reportedDead.report.generation) return {};
  return { reportedDead: { ...reportedDead.report, ageMs: nowMs - reportedDead.atMs } };
}

function clearFailures(record: MerchantRecord): void {
  record.failures = 0;
  record.failure = undefined;
}

function storedSession(stored: KeptSession | undefined, known: number, nowMs: number): StoredSession {
  if (stored === undefined) return { kind: 'absent' };
  const ageMs = nowMs - stored.answeredAtMs;
  if (stored.session.generation === known) return { kind: 'unchanged', ageMs };
  return { kind: 'session', session: stored.session, ageMs };
}
