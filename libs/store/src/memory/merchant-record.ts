import type { Instant } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import {
  type Announcement,
  type ClaimRequest,
  type ClaimResult,
  type DeathReport,
  type DueMerchants,
  failuresAfter,
  type Lease,
  type LeaseRelease,
  longestWindowMs,
  type Publication,
  type RecordedFailure,
  type ReportResult,
  type Session,
  type StoredReport,
  type StoredSession,
  type StoredState,
  waitForBudget,
  type WantedState,
} from '#libs/session';

/** One reading of both clocks: durations are measured by the monotonic one, fences are seeded from the wall clock. */
export interface StoreTime {
  readonly monotonicMs: number;
  readonly wall: Instant;
}

/** A moment that the store has set: from when it counts, and how far ahead it was then. */
export interface Moment {
  readonly fromMs: number;
  readonly lengthMs: number;
}

/**
 * Everything that a store keeps about one merchant: plain data, by the store's monotonic milliseconds. The functions
 * below are the rules of every adapter; the scripts in ../redis/scripts do the same.
 */
export interface MerchantRecord {
  /** The newest fence that was ever granted; 0 before the first. It only grows. */
  readonly fence: number;
  /** Replaced by a newer one only. */
  readonly stored?: { readonly session: Session; readonly answeredAtMs: number } | undefined;
  /** Of the newest fence. It stays after its end, when it does not count any more. */
  readonly lease?: { readonly owner: string; readonly end: Moment } | undefined;
  /** Failed attempts in a row, and the last of them; those without a call count up to five. */
  readonly failures: number;
  readonly failure?: RecordedFailure | undefined;
  /** The last report of a dead session. It says nothing of any other generation. */
  readonly reported?: (Omit<StoredReport, 'ageMs'> & { readonly atMs: number }) | undefined;
  /** When the last claim with a cool-down was granted. */
  readonly cooledDownAtMs?: number | undefined;
  /** The create calls, as far back as the longest window of the budget looks, each under the fence of its lease. */
  readonly calls: readonly { readonly fence: number; readonly atMs: number }[];
  readonly due: Moment;
}

/** What an operation leaves, what it answers, and what is announced of it. Nothing changed: the same record again. */
export interface Outcome<Answer> {
  readonly record: MerchantRecord;
  readonly answer: Answer;
  readonly announcement?: Announcement;
}

/** Of a merchant that the store does not know: it falls due at once. */
export function newRecord({ monotonicMs }: StoreTime): MerchantRecord {
  return { fence: 0, failures: 0, calls: [], due: { fromMs: monotonicMs, lengthMs: 0 } };
}

// ---- Moments

/** Servers that take over from one another disagree by less. */
const SET_BACK_MS = 2_000;

/**
 * What is left of a moment, never more than its length. It is over when its time has come, and when it lies further
 * ahead than it can have been set: the clock was set back.
 */
function leftMs({ fromMs, lengthMs }: Moment, nowMs: number): number {
  const aheadMs = fromMs + lengthMs - nowMs;
  return aheadMs > lengthMs + SET_BACK_MS ? 0 : Math.max(0, Math.min(aheadMs, lengthMs));
}

const isLeased = ({ lease }: MerchantRecord, nowMs: number): boolean =>
  lease !== undefined && leftMs(lease.end, nowMs) > 0;

// ---- Numbers

/** Above this there is no room left for the numbers that have to follow. */
const LAST_FLOOR = Number.MAX_SAFE_INTEGER + 1 - 2 ** 20;
const TEN_YEARS_MS = 10 * 365.25 * 86_400_000;

const believedFloor = (floor: number): number => (floor <= LAST_FLOOR ? floor : 0);

/**
 * Generations follow the clock. One further ahead of it, and of what is known, than any clock can be is a fault: it
 * counts as absent, so that it cannot block the merchant forever.
 */
function believed(record: MerchantRecord, wall: Instant, known: number): MerchantRecord {
  const most = Math.max(wall, believedFloor(known)) + TEN_YEARS_MS;
  if (record.fence <= most && generationIn(record) <= most) return record;
  const stored = generationIn(record) <= most ? record.stored : undefined;
  return { ...record, fence: record.fence <= most ? record.fence : 0, stored };
}

const generationIn = ({ stored }: MerchantRecord): number => stored?.session.generation ?? 0;

// ---- Claim

interface Claim {
  readonly request: ClaimRequest;
  readonly record: MerchantRecord;
  readonly nowMs: number;
}

/**
 * The first row that answers decides; if none does, the lease is granted. A pointless claim is refused before anything
 * else, because every unnecessary create call can end a session that payments use. The claimant's own lease comes
 * before every reason to wait, because those came with that lease.
 */
const claimChecks: readonly ((claim: Claim) => ClaimResult | undefined)[] = [
  function alreadyNewer({ request, record }) {
    const generation = generationIn(record);
    return generation > request.newerThan ? { kind: 'already_newer', generation } : undefined;
  },
  function leased({ request, record, nowMs }) {
    const { lease, fence, failures } = record;
    if (lease === undefined || !isLeased(record, nowMs)) return undefined;
    const remainingMs = leftMs(lease.end, nowMs);
    const { merchant, owner, floor } = request;
    if (lease.owner !== owner) return { kind: 'held', retryInMs: remainingMs };
    // At or below the floor, a call was made under it: the next call needs its own number.
    const isSpent = fence <= believedFloor(floor);
    return isSpent ? undefined : { kind: 'claimed', lease: { merchant, owner, fence, remainingMs, failures } };
  },
  function waiting({ request, record: { due, failures }, nowMs }) {
    const retryInMs = leftMs(due, nowMs);
    if (retryInMs === 0) return undefined;
    if (request.mode === 'when_due') return { kind: 'not_due', retryInMs };
    return failures > 0 && request.ignoresBackOff !== true ? { kind: 'backing_off', retryInMs } : undefined;
  },
  function coolingDown({ request: { coolDownMs }, record: { cooledDownAtMs }, nowMs }) {
    if (coolDownMs <= 0 || cooledDownAtMs === undefined) return undefined;
    const retryInMs = leftMs({ fromMs: cooledDownAtMs, lengthMs: coolDownMs }, nowMs);
    return retryInMs > 0 ? { kind: 'cooled_down', retryInMs } : undefined;
  },
  function budgetSpent({ request, record, nowMs }) {
    const callsAtMs = record.calls.map(({ atMs }) => atMs);
    const wait = waitForBudget(callsAtMs, request.budget, nowMs);
    return wait && { kind: 'budget_exhausted', retryInMs: wait.retryInMs, perMs: wait.window.perMs };
  },
];

/** Grants the lease, or says why not. */
export function claimIn(before: MerchantRecord, request: ClaimRequest, time: StoreTime): Outcome<ClaimResult> {
  const nowMs = time.monotonicMs;
  const record = withCountedCalls(believed(before, time.wall, request.floor), request, nowMs);
  for (const check of claimChecks) {
    const answer = check({ request, record, nowMs });
    if (answer !== undefined) return { record, answer };
  }
  const { merchant, owner, leaseMs, coolDownMs, floor } = request;
  const least = Math.max(record.fence, generationIn(record), believedFloor(floor)) + 1;
  const fence = Math.max(least, Math.floor(time.wall));
  const end = { fromMs: nowMs, lengthMs: leaseMs };
  const granted = {
    ...record,
    fence,
    lease: { owner, end },
    due: end,
    cooledDownAtMs: coolDownMs > 0 ? nowMs : record.cooledDownAtMs,
    calls: [...record.calls, { fence, atMs: nowMs }],
  };
  const { failures } = record;
  return {
    record: granted,
    answer: { kind: 'claimed', lease: { merchant, owner, fence, remainingMs: leaseMs, failures } },
  };
}

/** Calls in the future were made before the clock was set back: they count from now on. */
function withCountedCalls(record: MerchantRecord, { budget }: ClaimRequest, nowMs: number): MerchantRecord {
  const fromMs = nowMs - longestWindowMs(budget);
  const calls = record.calls
    .filter(({ atMs }) => atMs > fromMs)
    .map((call) => (call.atMs > nowMs ? { ...call, atMs: nowMs } : call));
  return { ...record, calls };
}

// ---- Publish, release, report

/**
 * A generation is a whole number above 0, since anything else in the store would be newer than everything; and it is
 * the fence of the lease, if the session was made under one. Anything else is a bug of ours.
 * @throws BrokerError `internal_error`
 */
export function assertPublishable({ merchant, generation }: Session, lease: Lease | undefined): void {
  const isOfLease = lease === undefined || (merchant === lease.merchant && generation === lease.fence);
  if (isOfLease && Number.isSafeInteger(generation) && generation > 0) return;
  throw new BrokerError('internal_error', {
    detail: "a session is published under a whole number above 0: that of its own merchant's lease, if it has one",
  });
}

/** @param lease absent for a session without one: then whoever holds a lease of its number made it */
export function publishIn(
  before: MerchantRecord,
  { session, ageMs, nextDueInMs }: Publication,
  { lease, time }: { readonly lease: Lease | undefined; readonly time: StoreTime },
): Outcome<'published' | 'fenced'> {
  const { merchant, generation } = session;
  const nowMs = time.monotonicMs;
  const record = believed(before, time.wall, generation);
  if (generationIn(record) === generation) return { record: before, answer: 'published' };
  if (Math.max(record.fence, generationIn(record)) > generation) return { record: before, answer: 'fenced' };
  const isOwnLease = record.fence === generation && (lease?.owner ?? record.lease?.owner) === record.lease?.owner;
  const stored = { session, answeredAtMs: nowMs - ageMs };
  const due = { fromMs: nowMs, lengthMs: nextDueInMs };
  const isBesideAnother = isLeased(record, nowMs) && !isOwnLease;
  const freed = isBesideAnother ? {} : { lease: undefined, failures: 0, failure: undefined, due };
  const announcement = { kind: 'changed', merchant, generation } as const;
  return { record: { ...record, stored, ...freed }, answer: 'published', announcement };
}

/** The lease is free, the merchant falls due, and a failure counts. */
export function releaseIn(
  record: MerchantRecord,
  { merchant, owner, fence }: Lease,
  { release, time }: { readonly release: LeaseRelease; readonly time: StoreTime },
): Outcome<boolean> {
  const nowMs = time.monotonicMs;
  const { lease } = record;
  if (lease?.owner !== owner || record.fence !== fence || !isLeased(record, nowMs)) return { record, answer: false };
  const { called, failure } = release;
  const due = { fromMs: nowMs, lengthMs: release.nextDueInMs };
  const freed = { ...(called ? record : uncalled(record, lease.end.fromMs)), lease: undefined, due };
  if (failure === undefined) return { record: freed, answer: true };
  const failed = { ...freed, failures: failuresAfter(record.failures, called), failure };
  return { record: failed, answer: true, announcement: { kind: 'changed', merchant } };
}

/** The gateway was never called: the call and the cool-down that came with the lease are given back. */
function uncalled(record: MerchantRecord, grantedAtMs: number): MerchantRecord {
  const calls = record.calls.filter(({ fence }) => fence !== record.fence);
  const cooledDownAtMs = record.cooledDownAtMs === grantedAtMs ? undefined : record.cooledDownAtMs;
  return { ...record, calls, cooledDownAtMs };
}

/** Whether it proves anything is decided here: a call under a later lease may have ended the session as well. */
export function reportIn(
  record: MerchantRecord,
  merchant: string,
  { report, time }: { readonly report: DeathReport; readonly time: StoreTime },
): Outcome<ReportResult> {
  const { generation, ageMs, mayProve } = report;
  if (generationIn(record) !== generation) return { record, answer: { isKept: false, diedEarly: false } };
  const wasProven = record.reported?.generation === generation && record.reported.diedEarly;
  const diedEarly = wasProven || (mayProve && record.fence <= generation);
  const reported = { generation, atMs: time.monotonicMs - ageMs, diedEarly };
  const announcement = { kind: 'changed', merchant } as const;
  return { record: { ...record, reported }, answer: { isKept: true, diedEarly }, announcement };
}

// ---- Read, due

export function stateIn(record: MerchantRecord, { merchant, known }: WantedState, time: StoreTime): StoredState {
  const nowMs = time.monotonicMs;
  const { failure, reported } = record;
  return {
    merchant,
    stored: storedIn(record, known, nowMs),
    ...(reported?.generation === generationIn(record) ? { reportedDead: agedReport(reported, nowMs) } : {}),
    ...(failure === undefined ? {} : { failure }),
    dueInMs: leftMs(record.due, nowMs),
  };
}

function storedIn({ stored }: MerchantRecord, known: number, nowMs: number): StoredSession {
  if (stored === undefined) return { kind: 'absent' };
  const ageMs = nowMs - stored.answeredAtMs;
  if (stored.session.generation === known) return { kind: 'unchanged', ageMs };
  return { kind: 'session', session: stored.session, ageMs };
}

function agedReport({ atMs, ...report }: NonNullable<MerchantRecord['reported']>, nowMs: number): StoredReport {
  return { ...report, ageMs: nowMs - atMs };
}

/** Whose moment the setting of the clock has ended comes last. */
export function dueIn(
  records: Iterable<readonly [string, MerchantRecord]>,
  limit: number,
  { monotonicMs }: StoreTime,
): DueMerchants {
  const waits = Array.from(records, ([merchant, { due }]) => ({
    merchant,
    dueInMs: leftMs(due, monotonicMs) || Math.min(0, due.fromMs + due.lengthMs - monotonicMs),
  }));
  return firstDue(waits, limit);
}

/** Those whose moment is over, the longest overdue first. `dueInMs`: 0 or less if it is over, and for how long. */
export function firstDue(waits: readonly Pick<StoredState, 'merchant' | 'dueInMs'>[], limit: number): DueMerchants {
  const inOrder = waits.toSorted((one, other) => one.dueInMs - other.dueInMs);
  const due = inOrder.slice(0, limit).filter(({ dueInMs }) => dueInMs <= 0);
  const next = inOrder[due.length];
  return {
    merchants: due.map(({ merchant }) => merchant),
    ...(next && { nextDueInMs: Math.max(0, next.dueInMs) }),
  };
}
