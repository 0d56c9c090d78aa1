import type { ClaimRequest, ClaimResult } from '#libs/session';
import { liveLease, type MerchantRecord } from './merchant-record.js';

export interface ClaimFacts {
  readonly record: MerchantRecord;
  readonly dueAtMs: number | undefined;
  readonly nowMs: number;
}

type ClaimCheck = (request: ClaimRequest, facts: ClaimFacts) => ClaimResult | undefined;

const alreadyNewer: ClaimCheck = (request, { record }) => {
  const generation = record.published?.session.generation ?? 0;
  return generation > request.newerThan ? { kind: 'already_newer', generation } : undefined;
};

const leased: ClaimCheck = (request, { record, nowMs }) => {
  const lease = liveLease(record, nowMs);
  if (lease === undefined) return undefined;
  const remainingMs = lease.endsAtMs - nowMs;
  if (lease.owner !== request.owner) return { kind: 'held', retryInMs: remainingMs };
  const { merchant, owner } = request;
  return {
    kind: 'claimed',
    lease: { merchant, owner, fence: lease.fence, remainingMs, failures: record.failures },
  };
};

const waiting: ClaimCheck = (request, { record, dueAtMs = -Infinity, nowMs }) => {
  const retryInMs = dueAtMs - nowMs;
  if (retryInMs <= 0) return undefined;
  if (request.mode === 'when_due') return { kind: 'not_due', retryInMs };
  return record.failures > 0 ? { kind: 'backing_off', retryInMs } : undefined;
};

const coolingDown: ClaimCheck = (request, { record, nowMs }) => {
  if (request.coolDownMs <= 0 || record.cooledDownFromMs === undefined) return undefined;
  const retryInMs = record.cooledDownFromMs + request.coolDownMs - nowMs;
  return retryInMs > 0 ? { kind: 'cooled_down', retryInMs } : undefined;
};

const budgetSpent: ClaimCheck = (request, { record, nowMs }) => {
  const retryInMs = record.calls.waitMs(nowMs, request.budget);
  return retryInMs > 0 ? { kind: 'budget_exhausted', retryInMs } : undefined;
};

/**
 * The order is part of the contract, the same in every adapter (README, "Order of checks"), and the first that answers
 * decides: a pointless claim is refused before all else, because every create call that was not needed can end a
 * session that payments use; the own lease comes before every reason to wait, because those came with that lease.
 */
const claimChecks: readonly ClaimCheck[] = [alreadyNewer, leased, waiting, coolingDown, budgetSpent];

/** @returns the answer when no new lease is to be granted; undefined when one is */
export function answerWithoutGrant(request: ClaimRequest, facts: ClaimFacts): ClaimResult | undefined {
  for (const check of claimChecks) {
    const answer = check(request, facts);
    if (answer !== undefined) return answer;
  }
  return undefined;
}
