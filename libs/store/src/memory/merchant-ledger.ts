import type {
  ClaimRequest,
  ClaimResult,
  DueMerchants,
  Lease,
  LeaseRelease,
  Session,
  StoredSession,
  StoredState,
} from '#libs/session';
import { answerWithoutGrant } from './claim-checks.js';
import { DueQueue } from './due-queue.js';
import { liveLease, type MerchantRecord, newMerchantRecord, type PublishedSession } from './merchant-record.js';

/** One moment on both clocks: durations are judged by the monotonic one, fences are seeded from the wall. */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** `unchanged`: the same publication again, answered but not applied a second time. */
export type PublishOutcome = 'published' | 'unchanged' | 'fenced';

/** Leases, sessions and due moments of all merchants: the rules of the store port without promises and listeners. */
export class MerchantLedger {
  readonly #due = new DueQueue();
  readonly #records = new Map<string, MerchantRecord>();

  enrol(merchants: readonly string[], { monotonicMs }: Moment): void {
    for (const merchant of merchants) {
      if (this.#due.dueAtMs(merchant) === undefined) this.#due.set(merchant, monotonicMs);
    }
  }

  due(limit: number, { monotonicMs }: Moment): DueMerchants {
    const { merchants, nextDueAtMs } = this.#due.list(monotonicMs, limit);
    return nextDueAtMs === undefined
      ? { merchants }
      : { merchants, nextDueInMs: Math.max(0, nextDueAtMs - monotonicMs) };
  }

  claim(request: ClaimRequest, moment: Moment): ClaimResult {
    const record = this.#recordOf(request.merchant);
    const dueAtMs = this.#due.dueAtMs(request.merchant);
    const answer = answerWithoutGrant(request, { record, dueAtMs, nowMs: moment.monotonicMs });
    return answer ?? this.#grant(request, record, moment);
  }

  publish(lease: Lease, publication: { session: Session; nextDueInMs: number }, moment: Moment): PublishOutcome {
    const record = this.#recordOf(lease.merchant);
    if (record.published?.session.generation === lease.fence) return 'unchanged';
    if (lease.fence < record.fence) return 'fenced';
    record.fence = lease.fence;
    record.published = { session: publication.session, atMs: moment.monotonicMs };
    record.lease = undefined;
    record.failures = 0;
    record.failure = undefined;
    this.#due.set(lease.merchant, moment.monotonicMs + publication.nextDueInMs);
    return 'published';
  }

  release(lease: Lease, release: LeaseRelease, { monotonicMs }: Moment): boolean {
    const record = this.#recordOf(lease.merchant);
    const held = liveLease(record, monotonicMs);
    if (held?.fence !== lease.fence || held.owner !== lease.owner) return false;
    record.lease = undefined;
    this.#due.set(lease.merchant, monotonicMs + release.nextDueInMs);
    if (!release.called) {
      record.calls.giveBack(lease.fence);
      if (held.coolsDown) record.cooledDownFromMs = undefined;
    }
    if (release.failure !== undefined) {
      record.failures += 1;
      record.failure = release.failure;
    }
    return true;
  }

  read(merchant: string, { monotonicMs }: Moment): StoredState {
    const record = this.#records.get(merchant);
    const dueAtMs = this.#due.dueAtMs(merchant);
    return {
      merchant,
      stored: storedSession(record?.published, monotonicMs),
      ...(record?.failure === undefined ? {} : { failure: record.failure }),
      ...(dueAtMs === undefined ? {} : { dueInMs: Math.max(0, dueAtMs - monotonicMs) }),
    };
  }

  #grant(request: ClaimRequest, record: MerchantRecord, { monotonicMs, wallMs }: Moment): ClaimResult {
    const { merchant, owner, leaseMs } = request;
    const fence = Math.max(record.fence + 1, request.floor + 1, Math.floor(wallMs));
    const coolsDown = request.coolDownMs > 0;
    record.fence = fence;
    record.lease = { owner, fence, endsAtMs: monotonicMs + leaseMs, coolsDown };
    if (coolsDown) record.cooledDownFromMs = monotonicMs;
    record.calls.take(fence, monotonicMs);
    this.#due.set(merchant, monotonicMs + leaseMs);
    return { kind: 'claimed', lease: { merchant, owner, fence, remainingMs: leaseMs, failures: record.failures } };
  }

  #recordOf(merchant: string): MerchantRecord {
    const known = this.#records.get(merchant);
    if (known !== undefined) return known;
    const record = newMerchantRecord();
    this.#records.set(merchant, record);
    return record;
  }
}

function storedSession(published: PublishedSession | undefined, nowMs: number): StoredSession {
  if (published === undefined) return { kind: 'absent' };
  return { kind: 'session', session: published.session, ageMs: nowMs - published.atMs };
}
