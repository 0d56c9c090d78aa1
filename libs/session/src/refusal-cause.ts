import { unavailableReasons } from '#libs/errors';
import { allSpentText, ASKED_AGAIN, FOREIGN, ofBudget, secondText } from './budget-cause.js';
import { afterFailure, explain, type ExplainedFacts } from './explanation.js';
import { type Cause, causeOf, clause } from './failure-cause.js';
import { reasonOfTrouble, type StoreTrouble } from './store-health.js';
import type { RenewalResult } from './renewal-result.js';

/** What became of a person's wish that got no newer session. */
export interface RefusedWish {
  readonly merchant: string;
  /** Undefined if nothing came in time. */
  readonly refusedBy: RenewalResult['kind'] | undefined;
  /** Whether the answer is what ended the last attempt, which was under way before the wish. */
  readonly isJoined: boolean;
  readonly store: StoreTrouble | undefined;
}

/** Why the store let no call be made for the wish; undefined if it was not the store. */
export function storeRefusal({
  refusedBy,
  store,
}: Pick<RefusedWish, 'refusedBy' | 'store'>): (typeof reasonOfTrouble)[StoreTrouble] | undefined {
  return refusedBy === 'store_down' && store !== undefined ? reasonOfTrouble[store] : undefined;
}

/**
 * Why a person who wanted a newer session at once gets none: what refused this wish, and then what ended the call
 * before it. Somebody else who creates sessions of the merchant is mentioned whatever the cause: another call would end
 * theirs, and theirs ends ours.
 */
export function explainRefusal(wish: RefusedWish, facts: ExplainedFacts): Cause | undefined {
  const cause = answerOf(wish, ownCause(wish, { ...facts, isForeign: false }));
  if (!facts.isForeign) return cause;
  const what =
    facts.watchedUntil === undefined
      ? `ends the sessions of ${wish.merchant}`
      : `created sessions of ${wish.merchant}, and may again`;
  const others = `somebody else ${what} (runbook: ${FOREIGN.runbook})`;
  return { text: cause === undefined ? others : `${cause.text}; ${others}`, runbook: FOREIGN.runbook };
}

/** It may have missed what was fixed while it was under way. */
function answerOf({ isJoined }: RefusedWish, cause: Cause | undefined): Cause | undefined {
  if (!isJoined || cause === undefined) return cause;
  return { ...cause, text: `an attempt was under way already, and this is its answer: ${cause.text}` };
}

function ownCause(wish: RefusedWish, facts: ExplainedFacts): Cause | undefined {
  const { spent, failure, now } = facts;
  const refusal = storeRefusal(wish);
  if (refusal !== undefined) {
    const { page, runbook } = unavailableReasons[refusal];
    return { text: clause(page), runbook };
  }
  if (spent === undefined) return explain(facts);
  const all = allSpentText(spent, now);
  if (wish.refusedBy !== 'budget_exhausted') return afterFailure(ofBudget(all, false), facts);
  const unmade = `no call was made: ${all}, ${ASKED_AGAIN}`;
  if (failure === undefined) return ofBudget(unmade, false);
  const { text, runbook } = causeOf(failure);
  return { text: `${unmade}; the last attempt (${secondText(failure.at, now)}) ended with: ${text}`, runbook };
}
