import { msBetween } from '#libs/clock';
import {
  areForeign,
  beforeNext,
  diedEarly,
  isTelling,
  noteRejected,
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
import { failedCall, MAX_BACK_OFF_MS } from './retry-policy.js';
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
 *      |   a refusal  |  refused,          |              claimed, otherwise                      |   | created
 *      |<-------------+  unclaimed --------+                               not_created <----------+   |
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
  | { readonly on: 'claimed'; readonly lease: Lease }
  | { readonly on: 'refused'; readonly refusal: ClaimRefusal | { readonly kind: 'already_newer' } }
  /** The store was silent about the claim, or refused to consider it. */
  | { readonly on: 'unclaimed' }
  | { readonly on: 'handed_over' }
  | { readonly on: 'created'; readonly issued: IssuedSession }
  | { readonly on: 'not_created'; readonly failure: GatewayFailure }
  | { readonly on: 'published'; readonly answer: 'published' | 'fenced' }
  /** The store did not confirm it. `isLast`: this replica does not ask again, since it stops. */
  | { readonly on: 'unpublished'; readonly isLast: boolean }
  | {
      readonly on: 'offered';
      readonly generation: number;
      readonly answer: 'published' | 'fenced' | 'outage' | 'broken';
    }
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
  /** The store was told; it did not answer if there is no answer. */
  | {
      readonly on: 'reported';
      readonly report: DeathReport;
      readonly atMs: number;
      readonly answer: ReportResult | undefined;
    }
  | { readonly on: 'kept'; readonly newerThan: number; readonly freeInMs: number }
  | { readonly on: 'slept'; readonly forMs: number }
  | { readonly on: 'configured' }
  /** A bug of ours has ended the attempt. */
  | { readonly on: 'broke' }
  | { readonly on: 'wake' };

/** A wish for a newer session. */
interface Wanted {
  readonly trigger: RenewalTrigger;
  /** What it has to be newer than; by default, than whatever is known. */
  readonly above?: number;
  /** The due moment has passed, or does not matter. */
  readonly isOverdue?: boolean;
  /** The reason for the back-off is gone. */
  readonly ignoresBackOff?: boolean;
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
  | { readonly do: 'report'; readonly report: DeathReport; readonly atMs: number }
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
/** Added to the moment of a free call: the store and we do not agree to the millisecond. */
const FREE_GRACE_MS = 250;
/** How often what ends merely because time passes is looked at. */
const REVIEW_MS = 1_000;

/** The moment of a kept wish that is being made. */
const MAKING = Infinity;

const STORE_DOWN = { kind: 'store_down', retryInMs: STORE_RETRY_MS } as const;
const STOPPING = { kind: 'stopping', retryInMs: STORE_RETRY_MS } as const;
const LOST = { kind: 'lost', retryInMs: 0 } as const;

/** Each input is handled in one place. */
const handlers: { readonly [On in Input['on']]: (merchant: Merchant, input: InputOn<On>, now: Turn) => Merchant } = {
  wanted,
  admitted: (merchant, _input, now) => admitted(merchant, now),
  claimed,
  refused,
  unclaimed: (merchant, _input, now) => ended(merchant, STORE_DOWN, now),
  handed_over: (merchant, _input, now) =>
    merchant.phase.at === 'handing_over' ? callOrGiveBack(merchant, merchant.phase, now) : merchant,
  created,
  not_created: (merchant, { failure }, now) => notCreated(merchant, failure, now),
  published,
  unpublished,
  broke: (merchant, _input, now) => ended(merchant, LOST, now),
  offered,
  stored,
  heard,
  store_back: (merchant, _input, now) => offering(merchant, now),
  rejected,
  unreplaced: (merchant, input, now) => telling({ ...merchant, report: reportAfter(merchant, input, now) }, now),
  reported,
  kept: (merchant, { newerThan, freeInMs }, now) => ({
    ...merchant,
    keptWish: { newerThan, freeAtMs: now.ms + freeInMs },
  }),
  slept,
  configured: (merchant, _input, now) => configured(merchant, now),
  wake: (merchant, _input, now) => woken(merchant, now),
};

type InputOn<On extends Input['on']> = Extract<Input, { readonly on: On }>;

function handle<On extends Input['on']>(merchant: Merchant, input: InputOn<On>, now: Turn): Merchant {
  return handlers[input.on](merchant, input, now);
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
  const blocked = isImpatient(merchant, wish, now) ? cutShort(merchant, now) : undefined;
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
function isImpatient(merchant: Merchant, { trigger }: Wish, now: Now): boolean {
  const failure = merchant.failure?.kind;
  if (failure === 'refused' || failure === 'revoked') return false;
  const { cutsBackOffShort } = triggers[trigger];
  const isLive = merchant.held?.isReported !== true && serveFactsOf(merchant, now).leftMs > 0;
  return cutsBackOffShort === 'always' || (cutsBackOffShort === 'with_nothing_live' && !isLive);
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
    return claimRefused(merchant, { wish, refusal: { kind: 'budget_exhausted', retryInMs: wait.retryInMs } }, now);
  }
  now.effects.push({
    do: 'claim',
    trigger: wish.trigger,
    request: { ...claimOf(merchant, wish, now.settings), budget },
  });
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

function refused(merchant: Merchant, { refusal }: InputOn<'refused'>, now: Turn): Merchant {
  const { phase } = merchant;
  if (phase.at !== 'claiming') return merchant;
  const { wish, askedAtMs } = phase;
  const isNone = refusal.kind === 'already_newer' || fallsBack(wish, refusal);
  // From when it was asked: a process may have stood still since, and what it was told is then long over.
  const blocked = isNone ? merchant.blocked : blockedBy(merchant.blocked, refusal, { ms: askedAtMs, wish });
  return claimRefused({ ...merchant, blocked }, { wish, refusal }, now);
}

interface RefusedClaim {
  readonly wish: Wish;
  readonly refusal: ClaimRefusal | { readonly kind: 'already_newer' };
}

/** By the store, or by this process's own count of the budget. */
function claimRefused(merchant: Merchant, { wish, refusal }: RefusedClaim, now: Turn): Merchant {
  if (wish.cutsShort !== undefined && fallsBack(wish, refusal)) return ended(merchant, wish.cutsShort, now);
  // What is spent for wishes need not be spent for the schedule.
  const reason = refusal.kind === 'budget_exhausted' && replacesLiving(wish) ? 'share_spent' : refusal.kind;
  const event = { event: 'claim_refused', merchant: merchant.id, trigger: wish.trigger, reason } as const;
  now.effects.push({ do: 'emit', event });
  return ended(merchant, refusal, now);
}

/** An attempt that cut a back-off short goes back to it if the budget has no call for that. */
function fallsBack({ cutsShort }: Wish, { kind }: RefusedClaim['refusal']): boolean {
  return cutsShort !== undefined && kind === 'budget_exhausted';
}

// ---- Under a lease

function claimed(merchant: Merchant, { lease }: InputOn<'claimed'>, now: Turn): Merchant {
  const { phase } = merchant;
  if (phase.at !== 'claiming') {
    now.effects.push({ do: 'release', lease, release: { called: false, nextDueInMs: 0 }, resumes: false });
    return merchant;
  }
  const { wish, settings, askedAtMs } = phase;
  now.effects.push({ do: 'emit', event: { event: 'lease_granted', merchant: merchant.id, trigger: wish.trigger } });
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
  const { wish, settings, lease, endsAtMs, grantedAtMs, isHandedOver } = granted;
  now.effects.push({ do: 'create', withinMs: endsAtMs - now.ms - PUBLISH_ALLOWANCE_MS });
  const fromMs = now.ms - longestWindowMs(budgetOf(merchant, settings));
  return {
    ...merchant,
    // Whatever becomes of the call, none is ever made under this fence again.
    floor: Math.max(merchant.floor, lease.fence),
    callsAtMs: [...merchant.callsAtMs.filter((atMs) => atMs > fromMs), now.ms],
    phase: {
      at: 'calling',
      ...{ wish, settings, lease, endsAtMs, grantedAtMs, isHandedOver },
      askedAtMs: now.ms,
      // An earlier call may be carried out after this one: nobody knows what became of one that failed.
      before: beforeNext(merchant, lease.failures > 0, now),
    },
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
  const { generation } = session;
  now.effects.push({ do: 'emit', event: { event: 'late_result', merchant: merchant.id, generation } });
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

function published(merchant: Merchant, { answer }: InputOn<'published'>, now: Turn): Merchant {
  const { phase, id } = merchant;
  if (phase.at !== 'publishing') return merchant;
  const { generation } = phase.session;
  // Seen without it since it was asked, the store may have lost it after it took it: then it is offered.
  const isLost = answer === 'published' && merchant.held?.kept === 'lost';
  const after = isLost ? merchant : { ...merchant, held: keptInStore(merchant.held, generation) };
  if (answer === 'published') return offering(concluded(after, { ...phase, outcome: 'success' }, now), now);
  now.effects.push({ do: 'emit', event: { event: 'fenced_publish', merchant: id, generation } });
  now.effects.push(finished(merchant, { ...phase, outcome: 'lease_lost', callMs: callMsOf(phase) }, now));
  return ended(after, LOST, now);
}

/** Nobody knows whether the store has it: the session is real all the same, and is offered. */
function unpublished(merchant: Merchant, { isLast }: InputOn<'unpublished'>, now: Turn): Merchant {
  const { phase } = merchant;
  if (phase.at !== 'publishing') return merchant;
  if (!isLast && phase.endsAtMs - now.ms > PUBLISH_RETRY_PAUSE_MS) {
    now.effects.push(publishEffect(phase, PUBLISH_RETRY_PAUSE_MS));
    return merchant;
  }
  return concluded(merchant, { ...phase, outcome: 'success' }, now);
}

/** The gateway has made a session, wherever it is kept. */
function concluded(merchant: Merchant, made: Made, now: Turn): Merchant {
  now.effects.push(finished(merchant, { ...made, callMs: callMsOf(made) }, now));
  if (now.settings === undefined) return ended(merchant, STOPPING, now);
  for (const event of timesOf(made)) now.effects.push({ do: 'emit', event });
  return ended(merchant, { kind: 'renewed' }, now);
}

type Made = Publishing & { readonly outcome: 'success' | 'lease_lost' };

/** What a person should know about a new session's times. */
function timesOf({ session, settings, issued }: Made): readonly SessionEvent[] {
  const { merchant } = session;
  const skew = measureSkew(issued);
  const shortfall = leadTimeShortfall(session, settings);
  const skewMs = skew?.likelyMs ?? 0;
  return [
    ...(skew ? [{ event: 'clock_skew', merchant, skewMs, beyondTolerance: exceedsTolerance(skew) } as const] : []),
    ...(shortfall ? [{ event: 'lead_time_short', merchant, ...shortfall } as const] : []),
  ];
}

/** The time the store takes to keep a result is not the gateway's. */
function callMsOf({ issued }: Publishing): number {
  return msBetween(issued.sentAt, issued.receivedAt);
}

type Finished = Extract<SessionEvent, { readonly event: 'renewal_finished' }>;

function finished(
  { id: merchant }: Merchant,
  ended: Granted & Pick<Finished, 'outcome' | 'callMs' | 'failure' | 'retryInMs'>,
  now: Now,
): Effect {
  const { wish, lease, grantedAtMs, outcome, callMs, failure, retryInMs } = ended;
  const event: Finished = {
    event: 'renewal_finished',
    merchant,
    trigger: wish.trigger,
    outcome,
    durationMs: now.ms - grantedAtMs,
    callMs,
    generation: lease.fence,
    ...(failure === undefined ? {} : { failure }),
    ...(retryInMs === undefined ? {} : { retryInMs }),
  };
  return { do: 'emit', event };
}

/** A failed renewal never touches the session that is served. */
function notCreated(merchant: Merchant, failure: GatewayFailure, now: Turn): Merchant {
  const { phase } = merchant;
  if (phase.at !== 'calling') return merchant;
  if (failure.kind === 'aborted' && now.isStopping) {
    giveUp(phase, { called: true, nextDueInMs: 0 }, now);
    return ended(merchant, STOPPING, now);
  }
  const { retryInMs, recorded } = failedCall(merchant, { ...phase, failure }, now);
  giveUp(phase, { called: failure.wasReached, nextDueInMs: retryInMs, failure: recorded }, now);
  const callMs = now.ms - phase.askedAtMs;
  const howLong = { callMs, retryInMs: Math.round(retryInMs) };
  now.effects.push(finished(merchant, { ...phase, outcome: recorded.kind, failure, ...howLong }, now));
  // A call that was made is never given back; this one did not even have a connection.
  const callsAtMs = failure.wasReached ? merchant.callsAtMs : merchant.callsAtMs.slice(0, -1);
  if (now.settings === undefined) return ended({ ...merchant, callsAtMs }, STOPPING, now);
  const failed = withFailure({ ...merchant, callsAtMs }, { failure: recorded, retryInMs }, now);
  return ended(failed, { kind: 'failed', because: failure.kind, retryInMs }, now);
}

/** An attempt that has failed is the one that a kept wish was waiting for, whoever made it. */
function withFailure(merchant: Merchant, { failure, retryInMs }: Failed, now: Now): Merchant {
  const refusal = { kind: 'backing_off', retryInMs } as const;
  const blocked = retryInMs > 0 ? blockedBy(merchant.blocked, refusal, now) : merchant.blocked;
  return { ...merchant, failure, blocked, keptWish: undefined };
}

interface Failed {
  readonly failure: RecordedFailure;
  readonly retryInMs: number;
}

/** The merchant is idle again, and whoever shared the wish is told. */
function ended(merchant: Merchant, result: RenewalResult, now: Turn): Merchant {
  const { phase, keptWish } = merchant;
  now.effects.push({ do: 'end', result });
  if (meansStoreIsAhead(result)) now.effects.push({ do: 'read', isUrgent: true });
  const after: Merchant = { ...merchant, phase: { at: 'idle' } };
  if (keptWish?.freeAtMs !== MAKING) return after;
  if (result.kind !== 'budget_exhausted') return { ...after, keptWish: undefined };
  // Refused by the budget again, it is kept again. What it had joined may have been allowed less.
  const isItsOwn = 'wish' in phase && phase.wish.trigger === 'operator';
  return { ...after, keptWish: { ...keptWish, freeAtMs: now.ms + (isItsOwn ? result.retryInMs : 0) } };
}

// ---- What is held, and what the store has

interface Arrival {
  readonly session: Session;
  readonly ageMs: number;
  readonly kept: Held['kept'];
}

/**
 * Takes a session into memory if it is newer than the held one, so that a late or repeated message never sets a replica
 * back. Nothing that was in the way of it, or was said of the one before, concerns it.
 */
export function adopted(merchant: Merchant, arrival: Arrival, now: Turn): Merchant {
  const { session, ageMs, kept } = arrival;
  const { generation } = session;
  if (now.settings === undefined || generation <= generationOf(merchant)) return merchant;
  const { held: before, keptWish, isSaidEnded } = merchant;
  const serverKeyChanged = before !== undefined && !haveSameServerKey(before.session, session);
  const source = kept === 'in_store' ? 'store' : 'own';
  const event = {
    event: 'session_adopted',
    merchant: merchant.id,
    generation,
    source,
    ageMs,
    serverKeyChanged,
  } as const;
  now.effects.push({ do: 'emit', event });
  const held = heldFrom(onOurClock(session, ageMs, now.wall), now.ms - ageMs, { kept });
  const after: Merchant = {
    ...merchant,
    held,
    floor: Math.max(merchant.floor, generation),
    failure: undefined,
    report: undefined,
    blocked: {},
    keptWish: keptWish !== undefined && generation > keptWish.newerThan ? undefined : keptWish,
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
  now.effects.push({ do: 'emit', event: { event: 'record_unopenable', merchant: merchant.id, generation } });
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

function keptInStore(held: Held | undefined, generation: number): Held | undefined {
  return held?.session.generation === generation ? { ...held, kept: 'in_store' } : held;
}

function heard(merchant: Merchant, { generation }: InputOn<'heard'>, now: Turn): Merchant {
  const isNewer = generation !== undefined && generation > generationOf(merchant);
  if (isNewer || generation === undefined) now.effects.push({ do: 'read', isUrgent: isNewer });
  return merchant;
}

// ---- What consumers report

function rejected(merchant: Merchant, rejection: InputOn<'rejected'>, now: Turn): Merchant {
  const { held } = merchant;
  if (held === undefined) return merchant;
  if (isTelling(merchant, rejection, now)) now.effects.push(reportEffect(merchant, true, now));
  return { ...merchant, held: noteRejected(held, rejection, now) };
}

/** The report is kept with the session in the store, where the other replicas read it. */
function telling(merchant: Merchant, now: Turn): Merchant {
  const { report } = merchant;
  if (report?.store !== 'untold') return merchant;
  now.effects.push(reportEffect(merchant, false, now));
  return { ...merchant, report: { ...report, store: 'telling' } };
}

function reportEffect(merchant: Merchant, mayProve: boolean, now: Now): Effect {
  return { do: 'report', report: storedForm(merchant, mayProve, now), atMs: merchant.report?.atMs ?? now.ms };
}

/** What the store did not take is told again the next time it is read. */
function reported(merchant: Merchant, input: InputOn<'reported'>, now: Turn): Merchant {
  const after = judged(merchant, input, now);
  const { report } = after;
  if (report === undefined) return after;
  if (report.atMs !== input.atMs) return telling(after, now);
  return { ...after, report: { ...report, store: input.answer?.isKept === true ? 'told' : 'untold' } };
}

function judged(
  merchant: Merchant,
  { report: { generation, mayProve }, answer }: InputOn<'reported'>,
  now: Now,
): Merchant {
  const { held } = merchant;
  if (answer === undefined || held?.session.generation !== generation) return merchant;
  if (answer.diedEarly) return { ...merchant, held: diedEarly(held, now) };
  return mayProve ? { ...merchant, held: { ...held, verdict: 'proves_nothing' } } : merchant;
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
  let after = merchant;
  if (after.lookAtMs <= now.ms) {
    now.effects.push({ do: 'read', isUrgent: true });
    after = { ...after, lookAtMs: Infinity, isLookedAt: true, looks: after.looks + 1 };
  }
  const { keptWish } = after;
  if (keptWish === undefined || keptWish.freeAtMs + FREE_GRACE_MS > now.ms) return after;
  return wanted({ ...after, keptWish: { ...keptWish, freeAtMs: MAKING } }, { trigger: 'operator' }, now);
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
    now.effects.push({ do: 'emit', event: { event: 'foreign_authorizer', merchant: merchant.id, ...said } });
  }
  const isEnded = merchant.held !== undefined && now.settings !== undefined && serveFactsOf(merchant, now).leftMs <= 0;
  if (isEnded && !merchant.isSaidEnded) now.effects.push({ do: 'say', what: 'service_ended' });
  return { ...merchant, isSaidForeign: isForeign, isSaidEnded: merchant.isSaidEnded || isEnded };
}

function wakeAtMsOf(merchant: Merchant, now: Now): number {
  const { lookAtMs, keptWish, held, isSaidEnded, isSaidForeign } = merchant;
  const keptAtMs = keptWish === undefined ? Infinity : keptWish.freeAtMs + FREE_GRACE_MS;
  const endsAtMs = held === undefined || isSaidEnded ? Infinity : now.ms + serveFactsOf(merchant, now).leftMs;
  return Math.ceil(Math.min(lookAtMs, keptAtMs, endsAtMs, isSaidForeign ? now.ms + REVIEW_MS : Infinity));
}
