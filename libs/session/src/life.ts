import { msBetween } from '#libs/clock';
import {
  areForeign,
  beforeNext,
  diedEarly,
  isDeathCode,
  isTelling,
  pauseMs,
  quietMs,
  reportAfter,
  storedForm,
  withStoredReport,
} from './deaths.js';
import { GatewayFailure } from './gateway-failure.js';
import {
  ageMsOf,
  generationOf,
  type Granted,
  type Held,
  heldFrom,
  knownOf,
  liveForMsOf,
  type Merchant,
  type Now,
  onOurClock,
  serveFactsOf,
  untilRenewalMsOf,
  verdictOn,
  type Wish,
} from './merchant.js';
import {
  blockedBy,
  budgetOf,
  cutShort,
  longestWindowMs,
  replacesLiving,
  retryInMsOf,
  shareOf,
  standingFor,
  triggers,
  waitForBudget,
} from './obstacles.js';
import type { RenewalTrigger, SessionEvent } from './ports/session-events.js';
import {
  type ClaimRefusal,
  type ClaimRequest,
  type ClaimResult,
  type DeathReport,
  type Lease,
  type LeaseRelease,
  meansStoreIsAhead,
  type Publication,
  type RecordedFailure,
  type RenewalResult,
  type ReportResult,
  type StoredState,
} from './ports/session-store.js';
import { type Failed, failedCall, MAX_BACK_OFF_MS } from './retry-policy.js';
import { admit, exceedsTolerance, measureSkew, timedSteadily } from './session-admission.js';
import { leadTimeShortfall } from './session-moments.js';
import { haveSameServerKey, type IssuedSession, type Session, type SessionSettings } from './session.js';

/**
 * The life of one merchant at one replica: a pure function from what is known and what happens to what is known then
 * and what is to be done. The driver (session-replica.ts) carries the effects out and feeds the answers back; explorer
 * and simulation drive the same function. One thing is done at a time:
 *
 *          wanted             admitted            claimed, planned                 handed_over
 *     idle ------> entering ----------> claiming ------------------> handing_over -------------> calling
 *      ^              |                    |   \----------------------------------------------->  |   |
 *      |   a refusal  |  a refusal,        |              claimed, otherwise                      |   | created
 *      |<-------------+  no answer --------+                               not_created <----------+   |
 *      |<---------------------------------------------------------------------+                       v
 *      |<------------------- published, fenced, or the lease is over --------------------------- publishing
 *
 * Beside it, whatever the phase: what the store has is read (`stored`), what it lacks is offered (`offered`), what
 * consumers report is told to it (`reported`), and one timer looks whether an announcement was missed (`wake`).
 */
export function step(merchant: Merchant, input: Input, now: Now): Stepped {
  const turn = { ...now, effects: [] };
  const after = reviewed(handle(merchant, input, turn), turn);
  return { merchant: { ...after, wakeAtMs: wakeAtMsOf(after, now) }, effects: turn.effects };
}

interface Stepped {
  readonly merchant: Merchant;
  /** In the order in which they are carried out. */
  readonly effects: readonly Effect[];
}

/** One step: the world as it is, and what it says is to be done. */
interface Turn extends Now {
  readonly effects: Effect[];
}

/** What happens. An answer to an effect bears its name; one that nobody waits for any more is taken all the same. */
export type Input =
  | ({ readonly on: 'wanted' } & Wanted)
  | { readonly on: 'admitted' }
  | { readonly on: 'claimed'; readonly answer: ClaimResult | NoAnswer }
  | { readonly on: 'handed_over' }
  | { readonly on: 'created'; readonly issued: IssuedSession }
  | { readonly on: 'not_created'; readonly failure: GatewayFailure }
  /** `isLast`: this replica does not ask again, since it stops. */
  | { readonly on: 'published'; readonly answer: PublishResult | NoAnswer; readonly isLast?: boolean }
  | { readonly on: 'offered'; readonly generation: number; readonly answer: PublishResult | NoAnswer }
  | {
      readonly on: 'stored';
      readonly state: StoredState;
      readonly ageMs: number;
      readonly failureBefore: RecordedFailure | undefined;
    }
  /** Something newer may be in the store: at once for a generation that we lack, soon for anything else. */
  | { readonly on: 'heard'; readonly generation?: number | undefined }
  | { readonly on: 'store_back' }
  | { readonly on: 'rejected'; readonly generation: number; readonly reason: string | undefined }
  | { readonly on: 'unreplaced'; readonly generation: number; readonly result: RenewalResult | undefined }
  | { readonly on: 'reported'; readonly report: DeathReport; readonly answer: ReportResult | NoAnswer }
  | { readonly on: 'slept'; readonly forMs: number }
  | { readonly on: 'configured' }
  /** A bug of ours has ended the attempt. */
  | { readonly on: 'broke' }
  | { readonly on: 'wake' };

type PublishResult = 'published' | 'fenced';
/** The store was silent, or refused to consider the question; or it hit a bug of ours. */
type NoAnswer = 'outage' | 'broken';
type Refusal = Exclude<ClaimResult, { readonly kind: 'claimed' }>;

/** A wish for a newer session. */
export interface Wanted extends Partial<Pick<Wish, 'isOverdue' | 'ignoresBackOff'>> {
  readonly trigger: RenewalTrigger;
  /** What it has to be newer than; by default, than whatever is known. */
  readonly above?: number;
  /** The gateway's code as a consumer saw it. */
  readonly reason?: string | undefined;
}

/** What is to be done, as data. */
export type Effect =
  | { readonly do: 'enter' | 'hurry' | 'resync' }
  | { readonly do: 'claim'; readonly trigger: RenewalTrigger; readonly request: Omit<ClaimRequest, 'owner'> }
  | { readonly do: 'hand_over'; readonly lease: Lease; readonly limitMs: number; readonly holdForMs: number }
  | { readonly do: 'create'; readonly withinMs: number }
  | {
      readonly do: 'publish';
      readonly lease: Lease;
      readonly session: Session;
      readonly answeredAtMs: number;
      readonly afterMs: number;
    }
  | { readonly do: 'release'; readonly lease: Lease; readonly release: LeaseRelease; readonly resumes: boolean }
  | { readonly do: 'offer'; readonly offer: Publication }
  | { readonly do: 'read'; readonly isUrgent: boolean }
  | { readonly do: 'report'; readonly report: DeathReport }
  | { readonly do: 'say'; readonly what: 'service_ended' | 'service_resumed' }
  | { readonly do: 'emit'; readonly event: SessionEvent }
  /** The wish has this result, for all who share it. */
  | { readonly do: 'end'; readonly result: RenewalResult };

/** The end of a lease is reserved for writing the result: the call must be over before less than this is left. */
const PUBLISH_ALLOWANCE_MS = 2_000;
/** Between the end of the longest call and the end of the lease, publishing included; a hand-over comes on top. */
const LEASE_SLACK_MS = 5_000;
const PUBLISH_RETRY_PAUSE_MS = 100;
/** Held calls wait for the create call as well, but not for as long as one that hangs. */
const MAX_CALL_HELD_MS = 2_000;
/** What fails again and again is not over in a moment: payments do not wait for each attempt. */
const MAX_FAILURES_HANDED_OVER = 2;
/** When to ask again for something that needs the store, while the store does not work. */
const STORE_RETRY_MS = 1_000;
/** A refused session is not offered again at once: whatever is newer is on its way. */
const REFUSED_PAUSE_MS = 5_000;
const BROKEN_PAUSE_MS = 1_000;
/** A merchant without a session, or long overdue, is looked up this often, in case its announcement was lost. */
const MAX_LOOK_MS = 15_000;
const MAX_FIRST_LAG_MS = 2_000;
const MIN_LOOK_MS = 250;
/** Keeps replicas from all looking at once. */
const LOOK_JITTER = 0.2;
/** How often what ends merely because time passes is looked at. */
const REVIEW_MS = 1_000;

const STORE_DOWN = { kind: 'store_down', retryInMs: STORE_RETRY_MS } as const;
const STOPPING = { kind: 'stopping', retryInMs: STORE_RETRY_MS } as const;
const LOST = { kind: 'lost', retryInMs: 0 } as const;

/** Each input is handled in one place. */
const handlers: { readonly [On in Input['on']]: (merchant: Merchant, input: InputOn<On>, now: Turn) => Merchant } = {
  wanted,
  admitted: (merchant, _input, now) => admitted(merchant, now),
  claimed,
  handed_over: (merchant, _input, now) =>
    merchant.phase.at === 'handing_over' ? callOrGiveBack(merchant, merchant.phase, now) : merchant,
  created,
  not_created: (merchant, { failure }, now) => notCreated(merchant, failure, now),
  published,
  broke: (merchant, _input, now) => ended(merchant, LOST, now),
  offered,
  stored,
  heard,
  store_back: (merchant, _input, now) => offering(merchant, now),
  rejected,
  unreplaced: (merchant, input, now) => telling({ ...merchant, report: reportAfter(merchant, input, now) }, now),
  reported,
  slept,
  configured: (merchant, _input, now) => configured(merchant, now),
  wake: (merchant, _input, now) => woken(merchant, now),
};

type InputOn<On extends Input['on']> = Extract<Input, { readonly on: On }>;

function handle<On extends Input['on']>(merchant: Merchant, input: InputOn<On>, now: Turn): Merchant {
  return handlers[input.on](merchant, input, now);
}

function emit(event: SessionEvent, now: Turn): void {
  now.effects.push({ do: 'emit', event });
}

// ---- A wish, and what stands in its way

function wanted(merchant: Merchant, given: Wanted, now: Turn): Merchant {
  if (merchant.phase.at !== 'idle') {
    // It shares what is under way. Somebody who cannot use what is served makes that a renewal nobody waits for.
    if (given.trigger === 'rejection' || serveFactsOf(merchant, now).freshMs <= 0) now.effects.push({ do: 'hurry' });
    return merchant;
  }
  const wish = wishOf(merchant, given, now);
  const refusal = refusalOf(merchant, wish, now);
  if (refusal === undefined) return entering(merchant, wish, now);
  const blocked = isImpatient(merchant, now) ? cutShort(merchant, now) : undefined;
  if (blocked === undefined) return ended(merchant, refusal, now);
  return entering({ ...merchant, blocked }, { ...wish, ignoresBackOff: true, cutsShort: refusal }, now);
}

function entering(merchant: Merchant, wish: Wish, now: Turn): Merchant {
  now.effects.push({ do: 'enter' });
  return { ...merchant, phase: { at: 'entering', wish } };
}

function wishOf(merchant: Merchant, { trigger, above = 0, reason, ...how }: Wanted, now: Now): Wish {
  const { coolDown, ignoresBackOff } = triggers[trigger];
  const { leftMs, freshMs } = serveFactsOf(merchant, now);
  const replaces = coolDown !== undefined && (coolDown.replaces === 'fresh' ? freshMs : leftMs) > 0;
  const apartMs = trigger === 'rejection' ? pauseMs(merchant, reason, now) : 0;
  return {
    trigger,
    newerThan: Math.max(above, knownOf(merchant)),
    coolDownMs: replaces ? Math.max(coolDown.atLeastMs, apartMs) : 0,
    isOverdue: how.isOverdue ?? false,
    ignoresBackOff: how.ignoresBackOff ?? ignoresBackOff,
  };
}

function refusalOf(merchant: Merchant, wish: Wish, now: Now): ClaimRefusal | undefined {
  if (!triggers[wish.trigger].mindsRefusals || wish.ignoresBackOff) return undefined;
  return standingFor(merchant, wish, now);
}

/**
 * A back-off spares a gateway in trouble, and payments wait for its end: while there is nothing live to use, it is cut
 * short within a share of the budget. What only a person can mend is not asked for sooner.
 */
function isImpatient(merchant: Merchant, now: Now): boolean {
  const failure = merchant.failure?.kind;
  if (failure === 'refused' || failure === 'revoked') return false;
  return liveForMsOf(merchant, now) <= 0;
}

/** There is room at the gateway. The wait for it may have been long: everything is checked again. */
function admitted(merchant: Merchant, now: Turn): Merchant {
  const { phase } = merchant;
  if (phase.at !== 'entering') return merchant;
  const { wish } = phase;
  if (now.settings === undefined || now.isStopping) return ended(merchant, STOPPING, now);
  if (generationOf(merchant) > wish.newerThan) return ended(merchant, { kind: 'already_newer' }, now);
  const result = refusalOf(merchant, wish, now) ?? waitsForOthers(wish, now);
  if (result !== undefined) return ended(merchant, result, now);
  const budget = shareOf(wish, budgetOf(merchant, now.settings));
  const wait = waitForBudget(merchant.callsAtMs, budget, now.ms);
  if (wait !== undefined) {
    const refusal = { kind: 'budget_exhausted', retryInMs: wait.retryInMs } as const;
    return claimRefused(merchant, { wish, refusal, askedAtMs: now.ms }, now);
  }
  const request = { ...claimOf(merchant, wish, now.settings), budget };
  now.effects.push({ do: 'claim', trigger: wish.trigger, request });
  return { ...merchant, phase: { at: 'claiming', wish, settings: now.settings, askedAtMs: now.ms } };
}

/** While the store is not reached, nobody can speak: then there is nothing to wait for. */
function waitsForOthers({ trigger }: Wish, { graceMs, isStoreDown }: Now): RenewalResult | undefined {
  if (graceMs <= 0 || !triggers[trigger].waitsForOthers) return undefined;
  return isStoreDown ? STORE_DOWN : { kind: 'held', retryInMs: graceMs };
}

function claimOf(
  { id, floor }: Merchant,
  wish: Wish,
  settings: SessionSettings,
): Omit<ClaimRequest, 'owner' | 'budget'> {
  const { newerThan, coolDownMs, ignoresBackOff } = wish;
  const mode = triggers[wish.trigger].waitsForDue && !wish.isOverdue ? 'when_due' : 'when_wanted';
  return { merchant: id, leaseMs: leaseMsFor(settings), mode, newerThan, floor, coolDownMs, ignoresBackOff };
}

function leaseMsFor({ handoverMs, gatewayTimeoutMs }: SessionSettings): number {
  return handoverMs + gatewayTimeoutMs + LEASE_SLACK_MS;
}

function claimed(merchant: Merchant, { answer }: InputOn<'claimed'>, now: Turn): Merchant {
  const { phase } = merchant;
  if (typeof answer !== 'string' && answer.kind === 'claimed') return leased(merchant, answer.lease, now);
  if (phase.at !== 'claiming') return merchant;
  if (typeof answer === 'string') return ended(merchant, STORE_DOWN, now);
  return claimRefused(merchant, { ...phase, refusal: answer }, now);
}

interface RefusedClaim {
  readonly wish: Wish;
  readonly refusal: Refusal;
  /** It counts from then: a process may have stood still since, and what it was told is then long over. */
  readonly askedAtMs: number;
}

function claimRefused(merchant: Merchant, { wish, refusal, askedAtMs }: RefusedClaim, now: Turn): Merchant {
  const { trigger, cutsShort } = wish;
  const isBudget = refusal.kind === 'budget_exhausted';
  // An attempt that cut a back-off short goes back to it if the budget has no call for that.
  if (isBudget && cutsShort !== undefined) return ended(merchant, cutsShort, now);
  // What is spent for wishes need not be spent for the schedule.
  const reason = isBudget && replacesLiving(wish) ? 'share_spent' : refusal.kind;
  emit({ event: 'claim_refused', merchant: merchant.id, trigger, reason }, now);
  if (refusal.kind === 'already_newer') return ended(merchant, refusal, now);
  const blocked = blockedBy(merchant.blocked, refusal, { ms: askedAtMs, wish });
  return ended({ ...merchant, blocked }, refusal, now);
}

// ---- Under a lease

function leased(merchant: Merchant, lease: Lease, now: Turn): Merchant {
  const { phase } = merchant;
  if (phase.at !== 'claiming') {
    now.effects.push({ do: 'release', lease, release: { called: false, nextDueInMs: 0 }, resumes: false });
    return merchant;
  }
  const { wish, settings, askedAtMs } = phase;
  emit({ event: 'lease_granted', merchant: merchant.id, trigger: wish.trigger }, now);
  const endsAtMs = askedAtMs + lease.remainingMs;
  const granted = { wish, settings, lease, endsAtMs, grantedAtMs: now.ms, isHandedOver: false };
  const limitMs = handoverLimitMs(merchant, granted, now);
  if (limitMs <= 0 || mayNotCall(merchant, granted, now) !== undefined) {
    return callOrGiveBack(merchant, granted, now);
  }
  const callHeldMs = Math.min(settings.gatewayTimeoutMs, MAX_CALL_HELD_MS);
  now.effects.push({ do: 'hand_over', lease, limitMs, holdForMs: Math.ceil(limitMs + callHeldMs) });
  return { ...merchant, phase: { ...granted, at: 'handing_over', isHandedOver: true } };
}

/** Zero if nobody is asked: an unplanned renewal does not wait, nor does that of a session past its margin. */
function handoverLimitMs(merchant: Merchant, granted: Granted, now: Now): number {
  const { settings, wish, lease } = granted;
  if (settings.supersedes === false || !triggers[wish.trigger].handsOver) return 0;
  if (lease.failures > MAX_FAILURES_HANDED_OVER) return 0;
  return Math.min(settings.handoverMs, spareMs(granted, now), serveFactsOf(merchant, now).freshMs);
}

/** What the lease has left beyond the longest call and the writing of its result. */
function spareMs({ endsAtMs, settings }: Granted, now: Now): number {
  return endsAtMs - now.ms - settings.gatewayTimeoutMs - PUBLISH_ALLOWANCE_MS;
}

/** A reason not to make the call after all; the claim may have been the first answer after an outage. */
function mayNotCall(merchant: Merchant, granted: Granted, now: Now): RenewalResult | undefined {
  // One was offered and taken in the meantime: the result of this lease would be refused.
  if (generationOf(merchant) > granted.lease.fence) return { kind: 'already_newer' };
  const refusal = waitsForOthers(granted.wish, now);
  if (refusal !== undefined) return refusal;
  if (now.settings === undefined || now.isStopping) return STOPPING;
  // The rest of a lease that an earlier, unanswered claim left behind: it may end during the call.
  return spareMs(granted, now) < 0 ? LOST : undefined;
}

/** The consumers' running calls may have taken a while: everything is checked again. */
function callOrGiveBack(merchant: Merchant, granted: Granted, now: Turn): Merchant {
  const refusal = mayNotCall(merchant, granted, now);
  if (refusal !== undefined) {
    giveUp(granted, { called: false, nextDueInMs: dueAfter(refusal, merchant, now) }, now);
    // The same lease may be granted again before it is free: a later call needs one of its own.
    return ended({ ...merchant, floor: Math.max(merchant.floor, granted.lease.fence) }, refusal, now);
  }
  const { settings, lease, endsAtMs } = granted;
  now.effects.push({ do: 'create', withinMs: endsAtMs - now.ms - PUBLISH_ALLOWANCE_MS });
  const fromMs = now.ms - longestWindowMs(budgetOf(merchant, settings));
  return {
    ...merchant,
    // Whatever becomes of the call, none is ever made under this fence again.
    floor: Math.max(merchant.floor, lease.fence),
    callsAtMs: [...merchant.callsAtMs.filter((atMs) => atMs > fromMs), now.ms],
    // An earlier call may be carried out after this one: nobody knows what became of one that failed.
    phase: { ...granted, at: 'calling', askedAtMs: now.ms, before: beforeNext(merchant, lease.failures > 0, now) },
  };
}

function dueAfter(refusal: RenewalResult, merchant: Merchant, now: Now): number {
  if (refusal.kind === 'already_newer') return Math.max(0, untilRenewalMsOf(merchant, now));
  return refusal.kind === 'held' ? refusal.retryInMs : 0;
}

function giveUp({ lease, isHandedOver }: Granted, release: LeaseRelease, now: Turn): void {
  now.effects.push({ do: 'release', lease, release, resumes: isHandedOver });
}

// ---- The gateway's answer

/** From here on the session before this one is dead, whatever the store says: it is served at once. */
function created(merchant: Merchant, { issued: answer }: InputOn<'created'>, now: Turn): Merchant {
  const { phase } = merchant;
  if (phase.at !== 'calling') return merchant;
  const { before, askedAtMs, ...granted } = phase;
  const answeredAtMs = answeredAt(answer, askedAtMs, now);
  const issued = timedSteadily(answer, answeredAtMs - askedAtMs);
  let session: Session;
  try {
    const { settings, lease } = granted;
    session = admit(issued, { merchant: merchant.id, generation: lease.fence, settings, jitter: now.chance, before });
  } catch (error) {
    if (!(error instanceof GatewayFailure)) throw error;
    return notCreated(merchant, error, now);
  }
  const ageMs = now.ms - answeredAtMs;
  const served = adopted(merchant, { session, ageMs, kept: 'here_alone' }, now);
  const publishing = { ...granted, at: 'publishing', issued, session, answeredAtMs } as const;
  const after = { ...served, phase: publishing };
  if (publishing.endsAtMs > now.ms) {
    now.effects.push(publishEffect(publishing, 0));
    return after;
  }
  emit({ event: 'late_result', merchant: merchant.id, generation: session.generation }, now);
  return concluded(after, { ...publishing, outcome: 'lease_lost' }, now);
}

type Publishing = Extract<Merchant['phase'], { readonly at: 'publishing' }>;

/** Publishing is idempotent by fence, so what was not confirmed is published again while the lease lasts. */
function publishEffect({ lease, session, answeredAtMs }: Publishing, afterMs: number): Effect {
  return { do: 'publish', lease, session, answeredAtMs, afterMs };
}

/** @param ageMs since the gateway's answer, when the store is asked: a pause before that counts */
export function publicationOf(session: Session, ageMs: number): Publication {
  const nextDueInMs = Math.max(0, msBetween(session.createdAt, session.renewAt) - ageMs);
  return { session, ageMs, nextDueInMs };
}

function published(merchant: Merchant, { answer, isLast = false }: InputOn<'published'>, now: Turn): Merchant {
  const { phase, id, held } = merchant;
  if (phase.at !== 'publishing') return merchant;
  if (answer === 'outage' || answer === 'broken') {
    // Nobody knows whether the store has it: the session is real all the same, and is offered.
    const isOver = isLast || phase.endsAtMs - now.ms <= PUBLISH_RETRY_PAUSE_MS;
    if (isOver) return concluded(merchant, { ...phase, outcome: 'success' }, now);
    now.effects.push(publishEffect(phase, PUBLISH_RETRY_PAUSE_MS));
    return merchant;
  }
  const { generation } = phase.session;
  // Seen without it since it was asked, the store may have lost it after it took it: then it is offered.
  const isLost = answer === 'published' && held?.kept === 'lost';
  const after = isLost ? merchant : keptInStore(merchant, generation);
  if (answer === 'published') return offering(concluded(after, { ...phase, outcome: 'success' }, now), now);
  emit({ event: 'fenced_publish', merchant: id, generation }, now);
  finished(phase, { outcome: 'lease_lost' }, now);
  return ended(after, LOST, now);
}

function keptInStore(merchant: Merchant, generation: number): Merchant {
  const { held } = merchant;
  return held?.session.generation === generation ? { ...merchant, held: { ...held, kept: 'in_store' } } : merchant;
}

/** The gateway has made a session, wherever it is kept. */
function concluded(merchant: Merchant, made: Made, now: Turn): Merchant {
  const { session, settings, issued, outcome } = made;
  finished(made, { outcome }, now);
  if (now.settings === undefined) return ended(merchant, STOPPING, now);
  const skew = measureSkew(issued);
  const shortfall = leadTimeShortfall(session, settings);
  const { id } = merchant;
  if (skew !== undefined) {
    emit({ event: 'clock_skew', merchant: id, skewMs: skew.likelyMs, beyondTolerance: exceedsTolerance(skew) }, now);
  }
  if (shortfall !== undefined) emit({ event: 'lead_time_short', merchant: id, ...shortfall }, now);
  return ended(merchant, { kind: 'renewed' }, now);
}

type Made = Publishing & { readonly outcome: 'success' | 'lease_lost' };
type Finished = Extract<SessionEvent, { readonly event: 'renewal_finished' }>;

function finished(
  { wish: { trigger }, lease: { merchant, fence: generation }, grantedAtMs }: Granted,
  how: Pick<Finished, 'outcome' | 'failure' | 'retryInMs'>,
  now: Turn,
): void {
  const durationMs = now.ms - grantedAtMs;
  emit({ event: 'renewal_finished', merchant, trigger, durationMs, generation, ...how }, now);
}

/** A failed renewal never touches the session that is served. */
function notCreated(merchant: Merchant, failure: GatewayFailure, now: Turn): Merchant {
  const { phase } = merchant;
  if (phase.at !== 'calling') return merchant;
  if (failure.kind === 'aborted' && now.isStopping) {
    giveUp(phase, { called: true, nextDueInMs: 0 }, now);
    return ended(merchant, STOPPING, now);
  }
  const failed = failedCall(merchant, { ...phase, failure }, now);
  const { retryInMs, failure: recorded } = failed;
  giveUp(phase, { called: failure.wasReached, nextDueInMs: retryInMs, failure: recorded }, now);
  finished(phase, { outcome: recorded.kind, failure, retryInMs: Math.round(retryInMs) }, now);
  // A call that was made is never given back; this one did not even have a connection.
  const callsAtMs = failure.wasReached ? merchant.callsAtMs : merchant.callsAtMs.slice(0, -1);
  if (now.settings === undefined) return ended({ ...merchant, callsAtMs }, STOPPING, now);
  const after = withFailure({ ...merchant, callsAtMs }, failed, now);
  return ended(after, { kind: 'failed', because: failure.kind, retryInMs }, now);
}

function withFailure(merchant: Merchant, { failure, retryInMs }: Failed, now: Now): Merchant {
  return { ...merchant, failure, blocked: blockedBy(merchant.blocked, { kind: 'backing_off', retryInMs }, now) };
}

/** The merchant is idle again, and whoever shared the wish is told. */
function ended(merchant: Merchant, result: RenewalResult, now: Turn): Merchant {
  now.effects.push({ do: 'end', result });
  if (meansStoreIsAhead(result)) now.effects.push({ do: 'read', isUrgent: true });
  return { ...merchant, phase: { at: 'idle' } };
}

// ---- What is held, and what the store has

/**
 * Takes a session into memory if it is newer than the held one, so that a late or repeated message never sets a replica
 * back. Nothing that was in the way of it, or was said of the one before, concerns it.
 */
function adopted(
  merchant: Merchant,
  { session, ageMs, kept }: { readonly session: Session; readonly ageMs: number; readonly kept: Held['kept'] },
  now: Turn,
): Merchant {
  const { generation } = session;
  if (now.settings === undefined || generation <= generationOf(merchant)) return merchant;
  const { held: before, isSaidEnded } = merchant;
  const serverKeyChanged = before !== undefined && !haveSameServerKey(before.session, session);
  const source = kept === 'in_store' ? 'store' : 'own';
  emit({ event: 'session_adopted', merchant: merchant.id, generation, source, ageMs, serverKeyChanged }, now);
  const held = heldFrom(onOurClock(session, ageMs, now.wall), now.ms - ageMs, { kept });
  const after: Merchant = {
    ...merchant,
    held,
    floor: Math.max(merchant.floor, generation),
    failure: undefined,
    report: undefined,
    blocked: {},
    looks: 0,
  };
  const isLive = serveFactsOf(after, now).leftMs > 0;
  if (isLive && isSaidEnded) now.effects.push({ do: 'say', what: 'service_resumed' });
  return { ...after, isSaidEnded: isSaidEnded && !isLive, lookAtMs: now.ms + untilLookMs(after, now) };
}

/**
 * When the answer was complete, by the monotonic clock: the time it took to open the answer counts as age. A wall clock
 * that was set in the meantime does not make it older than the request.
 */
function answeredAt({ receivedAt }: IssuedSession, askedAtMs: number, now: Now): number {
  return Math.max(askedAtMs, now.ms - Math.max(0, msBetween(receivedAt, now.wall)));
}

/** The answer of a read. What was noted while it was on its way, a failure or a session, is newer than it. */
function stored(merchant: Merchant, { state, ageMs, failureBefore }: InputOn<'stored'>, now: Turn): Merchant {
  if (now.settings === undefined) return merchant;
  let after = withStoredFailure(merchant, { state, failureBefore }, now);
  if (state.stored.kind === 'session') {
    const { session } = state.stored;
    after = adopted(after, { session, ageMs, kept: 'in_store' }, now);
  }
  after = telling(withStoredReport(after, state.reportedDead, now), now);
  if (state.stored.kind === 'unopenable') after = withUnopened(after, state.stored.generation, now);
  after = lostByStore(after, state, now);
  if (after.isLookedAt) after = renewedIfDue({ ...after, isLookedAt: false }, now);
  // What is already planned is not put off by a look in between.
  return after.lookAtMs < Infinity ? after : { ...after, lookAtMs: now.ms + untilLookMs(after, now, state.dueInMs) };
}

function withStoredFailure(
  merchant: Merchant,
  { state, failureBefore: before }: Pick<InputOn<'stored'>, 'state' | 'failureBefore'>,
  now: Now,
): Merchant {
  const { failure, dueInMs } = state;
  const { failure: known } = merchant;
  if (failure === undefined) return known === before ? { ...merchant, failure: undefined } : merchant;
  // A failure that is read again is not news: its back-off has been running in the meantime.
  if (failure.at === before?.at || failure.at === known?.at) return merchant;
  return withFailure(merchant, { failure, retryInMs: Math.min(dueInMs, MAX_BACK_OFF_MS) }, now);
}

function withUnopened(merchant: Merchant, generation: number, now: Turn): Merchant {
  if (merchant.unopened !== undefined && generation <= merchant.unopened) return merchant;
  emit({ event: 'record_unopenable', merchant: merchant.id, generation }, now);
  return { ...merchant, unopened: generation };
}

/** The store was emptied, restored from an older copy, or lost writes: a replica that holds something newer tells it. */
function lostByStore(merchant: Merchant, { stored: state }: StoredState, now: Turn): Merchant {
  const { held } = merchant;
  if (held === undefined || state.kind === 'unchanged' || serveFactsOf(merchant, now).leftMs <= 0) return merchant;
  const generation =
    state.kind === 'session' ? state.session.generation : state.kind === 'absent' ? 0 : state.generation;
  if (generation >= held.session.generation) return merchant;
  const lost: Merchant = { ...merchant, held: { ...held, kept: 'lost' } };
  // The store may not have been asked yet to keep what is only here.
  if (held.kept === 'here_alone') return lost;
  if (state.kind === 'absent') now.effects.push({ do: 'resync' });
  return offering(lost, now);
}

/** A replica that is renewing holds what it is about to publish; a session that was just refused rests. */
function offering(merchant: Merchant, now: Turn): Merchant {
  const { held } = merchant;
  if (held === undefined || held.kept === 'in_store' || merchant.isOffering) return merchant;
  if (merchant.phase.at !== 'idle' || now.ms < held.restsUntilMs) return merchant;
  now.effects.push({ do: 'offer', offer: publicationOf(held.session, ageMsOf(merchant, now)) });
  return { ...merchant, isOffering: true };
}

function offered(merchant: Merchant, { generation, answer }: InputOn<'offered'>, now: Turn): Merchant {
  const after = { ...merchant, isOffering: false };
  if (answer === 'fenced') now.effects.push({ do: 'read', isUrgent: true });
  if (answer === 'outage' || after.held?.session.generation !== generation) return after;
  const pauseMs = { published: 0, fenced: REFUSED_PAUSE_MS, broken: BROKEN_PAUSE_MS }[answer];
  const restsUntilMs = now.ms + pauseMs;
  // Fenced, it is older than what the store has or has granted: whatever that is, it is read.
  return { ...after, held: { ...after.held, kept: answer === 'broken' ? after.held.kept : 'in_store', restsUntilMs } };
}

function heard(merchant: Merchant, { generation }: InputOn<'heard'>, now: Turn): Merchant {
  const isNewer = generation !== undefined && generation > generationOf(merchant);
  if (isNewer || generation === undefined) now.effects.push({ do: 'read', isUrgent: isNewer });
  return merchant;
}

// ---- What consumers report

/** A consumer has found this generation dead. If that proves something, the store has to be asked. */
function rejected(merchant: Merchant, { generation, reason }: InputOn<'rejected'>, now: Turn): Merchant {
  const { held } = merchant;
  if (held?.session.generation !== generation) return merchant;
  if (isTelling(merchant, reason, now)) now.effects.push({ do: 'report', report: storedForm(merchant, true, now) });
  return { ...merchant, held: { ...held, isReported: true, ...(isDeathCode(reason) ? { reportedAtMs: now.ms } : {}) } };
}

/** The report is kept with the session in the store, where the other replicas read it. */
function telling(merchant: Merchant, now: Turn): Merchant {
  const { report } = merchant;
  if (report?.store !== 'untold') return merchant;
  now.effects.push({ do: 'report', report: storedForm(merchant, false, now) });
  return { ...merchant, report: { ...report, store: 'telling' } };
}

function reported(merchant: Merchant, { report: asked, answer }: InputOn<'reported'>, now: Now): Merchant {
  const { held, report } = merchant;
  // What the store did not take is told again the next time it is read.
  const store = typeof answer !== 'string' && answer.isKept ? 'told' : 'untold';
  const after: Merchant = report === undefined ? merchant : { ...merchant, report: { ...report, store } };
  if (typeof answer === 'string' || held?.session.generation !== asked.generation) return after;
  if (answer.diedEarly) return { ...after, held: diedEarly(held, now) };
  return asked.mayProve ? { ...after, held: { ...held, verdict: 'proves_nothing' } } : after;
}

// ---- What comes with time

/** What could not be opened may open now, and the back-off came from the previous configuration. Who is well is let be. */
function configured(merchant: Merchant, now: Turn): Merchant {
  const after = { ...merchant, unopened: undefined, blocked: {} };
  now.effects.push({ do: 'read', isUrgent: true });
  if (merchant.failure === undefined && verdictOn(merchant, now).result === 'fresh') return after;
  return renewed(after, { isOverdue: true, ignoresBackOff: true }, now);
}

function woken(merchant: Merchant, now: Turn): Merchant {
  if (merchant.lookAtMs > now.ms) return merchant;
  now.effects.push({ do: 'read', isUrgent: true });
  return { ...merchant, lookAtMs: Infinity, isLookedAt: true, looks: merchant.looks + 1 };
}

/** The due list shows what is due; if it fails to, the replicas that hold the session know as well. */
function renewedIfDue(merchant: Merchant, now: Turn): Merchant {
  if (untilRenewalMsOf(merchant, now) > 0) return merchant;
  const isOverdue = merchant.held !== undefined && serveFactsOf(merchant, now).freshMs <= 0;
  return renewed(merchant, { isOverdue }, now);
}

function renewed(merchant: Merchant, how: Omit<Wanted, 'trigger'>, now: Turn): Merchant {
  if (now.isStopping || merchant.phase.at !== 'idle' || retryInMsOf(merchant, now) !== undefined) return merchant;
  return wanted(merchant, { trigger: 'schedule', ...how }, now);
}

/** Shortly after renewAt, then less and less often: whatever happens in between is announced. */
function untilLookMs(merchant: Merchant, now: Now, dueInMs = Infinity): number {
  const { held, looks } = merchant;
  const { leftMs, freshMs } = serveFactsOf(merchant, now);
  const jitter = 1 - LOOK_JITTER * now.chance;
  // Without a session, the end of a lease or of a back-off is what counts: the due list comes first.
  if (held === undefined || leftMs <= 0) return Math.min(MAX_LOOK_MS * jitter, dueInMs + MAX_FIRST_LAG_MS);
  const leadMs = msBetween(held.session.renewAt, held.session.expiresAt);
  const firstLagMs = Math.min(MAX_FIRST_LAG_MS, Math.max(MIN_LOOK_MS, leadMs / 4));
  const lagMs = Math.min(MAX_LOOK_MS, firstLagMs * 2 ** Math.min(10, looks));
  const untilRenewalMs = untilRenewalMsOf(merchant, now);
  if (untilRenewalMs > 0) return untilRenewalMs + firstLagMs;
  // The margin is a moment in its own right: from then on a renewal does not wait for the schedule.
  return freshMs > MIN_LOOK_MS ? Math.min(lagMs * jitter, freshMs) : Math.max(MIN_LOOK_MS, lagMs * jitter);
}

/** A session lives on by the clock that was right. @param forMs how long the machine slept; 0 if a wall clock was set */
function slept(merchant: Merchant, { forMs }: InputOn<'slept'>, now: Now): Merchant {
  const { held } = merchant;
  if (held === undefined) return merchant;
  const answeredAtMs = held.answeredAtMs - forMs;
  return {
    ...merchant,
    held: { ...held, answeredAtMs, session: onOurClock(held.session, now.ms - answeredAtMs, now.wall) },
  };
}

/** What people are told once: that a session has ended, that somebody else creates. */
function reviewed(merchant: Merchant, now: Turn): Merchant {
  const isForeign = areForeign(merchant, now);
  if (isForeign !== merchant.isSaidForeign) {
    const said = { isPresent: isForeign, generation: generationOf(merchant), quietMs: quietMs(merchant, now) };
    emit({ event: 'foreign_authorizer', merchant: merchant.id, ...said }, now);
  }
  const isEnded = merchant.held !== undefined && now.settings !== undefined && serveFactsOf(merchant, now).leftMs <= 0;
  if (isEnded && !merchant.isSaidEnded) now.effects.push({ do: 'say', what: 'service_ended' });
  return { ...merchant, isSaidForeign: isForeign, isSaidEnded: merchant.isSaidEnded || isEnded };
}

/** Nothing comes with time to a merchant that is no longer configured. */
function wakeAtMsOf(merchant: Merchant, now: Now): number {
  if (now.settings === undefined) return Infinity;
  const { lookAtMs, held, isSaidEnded, isSaidForeign } = merchant;
  const endsAtMs = held === undefined || isSaidEnded ? Infinity : now.ms + serveFactsOf(merchant, now).leftMs;
  return Math.ceil(Math.min(lookAtMs, endsAtMs, isSaidForeign ? now.ms + REVIEW_MS : Infinity));
}
