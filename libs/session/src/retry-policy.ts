import type { FailureTrace, GatewayFailure, SharedFailureKind } from './gateway-failure.js';
import { type Granted, liveForMsOf, type Merchant, type Now, serveFactsOf, untilRenewalMsOf } from './merchant.js';
import { budgetOf } from './obstacles.js';
import type { RecordedFailure } from './ports/session-store.js';
import type { CreateCallBudget, CreateCallWindow } from './session.js';

const FIRST_BOUND_MS = 2_000;
const MIN_MS = 1_000;
/**
 * Between two attempts at most, until an outage is recognized as one, and when the session is about to need an attempt.
 */
const MAX_USUAL_PAUSE_MS = 60_000;
/** Without a connection nothing was asked of the gateway, so trying again costs it nothing. */
const MAX_UNREACHED_MS = 3_000;
/** For failures that only a person can fix; a `Retry-After` cannot ask for more either. */
const SLOW_RETRY_MS = 300_000;
const SLOW_RETRY_JITTER = 0.1;
/** An answer that was only damaged opens at the next attempt. After this many in a row it is the key. */
const FAILURES_OF_A_WRONG_KEY = 3;
/** While nothing live is served, a refusal may be over soon: these pauses precede the slow ones. */
const FIRST_REFUSALS_MS = [2_000, 5_000, 15_000, 60_000] as const;
/**
 * This share of each window of the budget may go to the beginning of an outage. Then the pace slows down: otherwise the
 * calls of a day would be spent within minutes, and nobody could call when it is over.
 */
const SHARE_OF_THE_BEGINNING = 0.4;
/** A fault of a minute is over by then. */
const FAILURES_OF_A_MOMENT = 6;
export const MAX_BACK_OFF_MS = 14_400_000;
const OUTAGE_RETRY_JITTER = 0.25;
/** The call and what comes before and after it: a turn at the gateway, a lease, a publication. */
const LAST_ATTEMPT_TIMEOUTS = 2;
/**
 * Failures without a call only count up to here: enough to be known as repeated failures, and too few for the pauses of
 * an outage, which save calls. A gateway that nobody could connect to for an hour is asked at the usual pace once it
 * can be reached.
 */
export const MAX_UNREACHED_FAILURES = 5;

interface FailedAttempt {
  readonly kind: SharedFailureKind;
  /** Failed attempts in a row before this one, as `failuresAfter` counts them. */
  readonly failures: number;
  readonly wasReached: boolean;
  /** The answer was sealed to another key than ours, or damaged. */
  readonly isSealedElsewhere: boolean;
  readonly retryAfterMs: number | undefined;
  /**
   * The moments, from now, at which the served session needs an attempt, however long the outage lasts: its renewal,
   * the last moment at which a newer one still comes in time, and its end. Those that have passed do not count.
   */
  readonly needsInMs: readonly number[];
  readonly liveForMs: number;
  readonly budget: CreateCallBudget;
}

export function failuresAfter(failures: number, wasReached: boolean): number {
  return wasReached || failures < MAX_UNREACHED_FAILURES ? failures + 1 : failures;
}

/**
 * The one retry policy: when a merchant falls due again after a failed attempt, in milliseconds.
 * @param random in [0, 1)
 */
export function retryDelayMs(attempt: FailedAttempt, random: number): number {
  if (needsPerson(attempt)) {
    return Math.max(refusalPaceMs(attempt) * (1 + SLOW_RETRY_JITTER * random), outagePaceMs(attempt, random));
  }
  const askedForMs = Math.min(attempt.retryAfterMs ?? 0, SLOW_RETRY_MS);
  return Math.max(askedForMs, backOffMs(attempt, random), outagePaceMs(attempt, random));
}

/** Each attempt under a wrong key costs a call, ends the session before it, and opens nothing. */
function needsPerson({ kind, isSealedElsewhere, failures }: FailedAttempt): boolean {
  if (kind === 'refused' || kind === 'revoked') return true;
  return isSealedElsewhere && failures >= FAILURES_OF_A_WRONG_KEY;
}

/** The slow pace, but for the first refusals while nothing live is served: then once the session is over, or at once. */
function refusalPaceMs({ isSealedElsewhere, failures, liveForMs }: FailedAttempt): number {
  const firstMs = isSealedElsewhere ? undefined : FIRST_REFUSALS_MS[failures];
  return firstMs === undefined ? SLOW_RETRY_MS : Math.max(firstMs, Math.min(SLOW_RETRY_MS, liveForMs));
}

/**
 * In a long outage, a pause that grows with it, up to what the budget demands; while a session is served, half of what
 * it has left, which saves calls for when it is over. It never lasts past a moment at which the session needs an
 * attempt: that costs one more call for each, and no session ends that did not have to.
 */
function outagePaceMs({ failures, wasReached, liveForMs, needsInMs, budget }: FailedAttempt, random: number): number {
  if (!wasReached) return 0;
  const unhurriedMs = failures < FAILURES_OF_A_MOMENT ? 0 : liveForMs / 2;
  const boundMs = Math.max(unhurriedMs, ...budget.map((window) => sparingPauseMs(window, failures + 1)));
  return Math.min(boundMs * (1 - OUTAGE_RETRY_JITTER * random), ...needsInMs.filter((needMs) => needMs > 0));
}

/**
 * From a minute on, doubling, up to a pause with which an outage as long as the window leaves a call for its end; no
 * longer than four hours, since a merchant is waiting for it.
 */
function sparingPauseMs({ calls, perMs }: CreateCallWindow, failures: number): number {
  const beginning = SHARE_OF_THE_BEGINNING * calls;
  if (failures <= beginning) return 0;
  const growing = 1 + Math.ceil(Math.max(0, Math.log2(perMs / calls / MAX_USUAL_PAUSE_MS)));
  const left = Math.max(calls - beginning - growing, calls / 4, 1);
  const longestMs = Math.min(MAX_BACK_OFF_MS, perMs / left / (1 - OUTAGE_RETRY_JITTER));
  return Math.min(longestMs, MAX_USUAL_PAUSE_MS * 2 ** Math.min(failures - Math.floor(beginning) - 1, 10));
}

/** Full jitter between one second and a bound that doubles from 2 s to 60 s: never zero, never in step. */
function backOffMs({ failures, wasReached }: FailedAttempt, random: number): number {
  const maxMs = wasReached ? MAX_USUAL_PAUSE_MS : MAX_UNREACHED_MS;
  const boundMs = Math.min(maxMs, FIRST_BOUND_MS * 2 ** Math.min(failures, 10));
  return MIN_MS + random * (boundMs - MIN_MS);
}

/** What a failed create-session call amounts to: when to try again, and what every replica may show of it. */
export interface Failed {
  readonly failure: RecordedFailure;
  readonly retryInMs: number;
}

export function failedCall(
  merchant: Merchant,
  { lease: { failures }, settings, failure }: Granted & { readonly failure: GatewayFailure },
  now: Now,
): Failed {
  const { shownCode: msgCode, retryAfterMs, wasReached, trace } = failure;
  // An abort that shutdown did not ask for means that the time ran out: to everyone else, a timeout.
  const kind = failure.kind === 'aborted' ? 'timeout' : failure.kind;
  const { leftMs, freshMs } = serveFactsOf(merchant, now);
  const attempt = {
    ...{ kind, failures, retryAfterMs, wasReached },
    isSealedElsewhere: trace?.thumbprint !== undefined,
    needsInMs: [untilRenewalMsOf(merchant, now), freshMs - LAST_ATTEMPT_TIMEOUTS * settings.gatewayTimeoutMs, leftMs],
    liveForMs: liveForMsOf(merchant, now),
    budget: budgetOf(merchant, settings),
  };
  const code = msgCode === undefined ? {} : { msgCode };
  const recorded = { kind, at: now.wall, ...code, ...traceOf(trace, merchant.failure) };
  return { failure: recorded, retryInMs: retryDelayMs(attempt, now.chance) };
}

/**
 * Whatever ends the next call, the session that was lost before it has ended ours: only a newer one puts that right.
 */
function traceOf(trace: FailureTrace | undefined, before: RecordedFailure | undefined): Pick<RecordedFailure, 'trace'> {
  if (before?.trace?.lostSession === true) return { trace: { ...trace, lostSession: true } };
  return trace === undefined ? {} : { trace };
}
