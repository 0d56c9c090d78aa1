import type { GatewayFailureKind } from './gateway-failure.js';
import type { CreateCallBudget, CreateCallWindow } from './ports/session-store.js';

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
/**
 * After this many failed calls in a row the pace slows down: otherwise a day's budget of 60 calls would be spent within
 * the first hour of an outage, and nobody could call when it is over.
 */
const FAILURES_OF_AN_OUTAGE = 24;
/** What an outage has cost by the time its pauses are longest: those failures, and six while they grow. */
const CALLS_BEFORE_THE_LONGEST = FAILURES_OF_AN_OUTAGE + 6;
const MIN_OUTAGE_RETRY_MS = 2 * MAX_USUAL_PAUSE_MS;
const MAX_OUTAGE_RETRY_MS = 3_600_000;
const OUTAGE_RETRY_JITTER = 0.25;
/** No attempt is ever put off for longer. */
export const MAX_BACK_OFF_MS = MAX_OUTAGE_RETRY_MS;
/**
 * Failures without a call only count up to here: enough to be known as repeated failures, and too few for the pauses of
 * an outage, which save calls. A gateway that nobody could connect to for an hour is asked at the usual pace once it
 * can be reached.
 */
export const MAX_UNREACHED_FAILURES = 10;

interface FailedAttempt {
  readonly kind: GatewayFailureKind;
  /** Failed attempts in a row before this one, as `failuresAfter` counts them. */
  readonly failures: number;
  /** False if there was not even a connection. */
  readonly wasReached: boolean;
  /** The answer was sealed to another key than ours, or damaged. */
  readonly isSealedElsewhere?: boolean;
  /** What the gateway asked for. */
  readonly retryAfterMs: number | undefined;
  /**
   * The moments, from now, at which the served session needs an attempt, however long the outage lasts: its renewal,
   * the last moment at which a newer one still comes in time, and its end. Those that have passed do not count.
   */
  readonly needsInMs: readonly number[];
  /** The budget of which the outage has to leave calls. */
  readonly budget: CreateCallBudget;
}

/** How many attempts in a row have failed, including this one. */
export function failuresAfter(failures: number, wasReached: boolean): number {
  return wasReached || failures < MAX_UNREACHED_FAILURES ? failures + 1 : failures;
}

/**
 * The one retry policy: when a merchant falls due again after a failed attempt, in milliseconds.
 * @param random in [0, 1)
 */
export function retryDelayMs(attempt: FailedAttempt, random: number): number {
  if (attempt.kind === 'aborted') return 0;
  if (needsPerson(attempt)) {
    return Math.max(SLOW_RETRY_MS * (1 + SLOW_RETRY_JITTER * random), outagePaceMs(attempt, random));
  }
  const askedForMs = Math.min(attempt.retryAfterMs ?? 0, SLOW_RETRY_MS);
  return Math.max(askedForMs, backOffMs(attempt, random), outagePaceMs(attempt, random));
}

/** Each attempt under a wrong key costs a call, ends the session before it, and opens nothing. */
function needsPerson({ kind, isSealedElsewhere = false, failures }: FailedAttempt): boolean {
  if (kind === 'refused' || kind === 'revoked') return true;
  return isSealedElsewhere && failures >= FAILURES_OF_A_WRONG_KEY;
}

/**
 * In a long outage, a pause that grows with it: from two minutes, doubling up to what the budget demands. Failures that
 * cost no call need none. It never lasts past a moment at which the session needs an attempt: that costs one more call
 * for each, and no session ends that did not have to.
 */
function outagePaceMs({ failures, wasReached, needsInMs, budget }: FailedAttempt, random: number): number {
  const doublings = failures - FAILURES_OF_AN_OUTAGE + 1;
  if (doublings < 1 || !wasReached) return 0;
  const boundMs = Math.min(longestOutagePauseMs(budget), MAX_USUAL_PAUSE_MS * 2 ** Math.min(doublings, 10));
  const pauseMs = boundMs * (1 - OUTAGE_RETRY_JITTER * random);
  return Math.min(pauseMs, ...needsInMs.filter((needMs) => needMs > 0));
}

/**
 * Such that an outage as long as a window of the budget leaves a call for its end; no longer, since a merchant is
 * waiting for it.
 */
function longestOutagePauseMs(budget: CreateCallBudget): number {
  const longestMs = Math.max(MIN_OUTAGE_RETRY_MS, ...budget.map(sparingPauseMs));
  return Math.min(MAX_OUTAGE_RETRY_MS, longestMs);
}

/** Of a window too small for the beginning of an outage, half is kept for what comes afterwards. */
function sparingPauseMs({ calls, perMs }: CreateCallWindow): number {
  const left = Math.max(calls - CALLS_BEFORE_THE_LONGEST, calls / 2, 1);
  return perMs / left / (1 - OUTAGE_RETRY_JITTER);
}

/** Full jitter between one second and a bound that doubles from 2 s to 60 s: never zero, never in step. */
function backOffMs({ failures, wasReached }: FailedAttempt, random: number): number {
  const maxMs = wasReached ? MAX_USUAL_PAUSE_MS : MAX_UNREACHED_MS;
  const boundMs = Math.min(maxMs, FIRST_BOUND_MS * 2 ** Math.min(failures, 10));
  return MIN_MS + random * (boundMs - MIN_MS);
}
