import type { ClaimRequest, ClaimResult } from '#libs/session';
import { believedFloor } from './fences.js';
import { liveLease, type MerchantRecord } from './merchant-record.js';
import { isOver, remainingMs, type StoreMoment } from './store-moment.js';

interface ClaimFacts {
  readonly record: MerchantRecord;
  readonly due: StoreMoment | undefined;
  readonly nowMs: number;
}

type ClaimCheck = (request: ClaimRequest, facts: ClaimFacts) => ClaimResult | undefined;

const alreadyNewer: ClaimCheck = (request, { record }) => {
  const generation = record.stored?.session.generation ?? 0;
  return generation > request.newerThan ? { kind: 'already_newer', generation } : undefined;
};

const leased: ClaimCheck = (request, { record, nowMs }) => {
  const lease = liveLease(record, nowMs);
  if (lease === undefined) return undefined;
  const leftMs = remainingMs(lease.end, nowMs);
  const { merchant, owner, floor } = request;
  if (lease.owner === owner) {
    // If the fence is at or below the floor, a call has already been made under it: the next call needs its own number.
    if (lease.fence <= believedFloor(floor)) return undefined;
    const { fence } = lease;
    return { kind: 'claimed', lease: { merchant, owner, fence, remainingMs: leftMs, failures: record.failures } };
  }
  return { kind: 'held', retryInMs: leftMs, mark: lease.end.mark };
};

const waiting: ClaimCheck = (request, { record, due, nowMs }) => {
  if (due === undefined || isOver(due, nowMs)) return undefined;
  const wait = { retryInMs: remainingMs(due, nowMs), mark: due.mark };
  if (request.mode === 'when_due') return { kind: 'not_due', ...wait };
  return record.failures > 0 && request.ignoresBackOff !== true ? { kind: 'backing_off', ...wait } : undefined;
};

const coolingDown: ClaimCheck = ({ coolDownMs }, { record: { cooledDown }, nowMs }) => {
  if (coolDownMs <= 0 || cooledDown === undefined) return undefined;
  const { mark, fromMs } = cooledDown;
  const end: StoreMoment = { mark, endsAtMs: fromMs + coolDownMs, lengthMs: coolDownMs };
  return isOver(end, nowMs) ? undefined : { kind: 'cooled_down', retryInMs: remainingMs(end, nowMs), mark };
};

const budgetSpent: ClaimCheck = (request, { record, nowMs }) => {
  const wait = record.calls.wait(nowMs, request.budget);
  return wait === undefined ? undefined : { kind: 'budget_exhausted', ...wait };
};

/**
 * The order is part of the contract, the same in every adapter (rules.md, "Order of checks"), and the first check that
 * answers decides. A pointless claim is refused before anything else, because every unnecessary create call can end a
 * session that payments use. The claimant's own lease comes before every reason to wait, because those reasons came
 * with that lease.
 */
const claimChecks: readonly ClaimCheck[] = [alreadyNewer, leased, waiting, coolingDown, budgetSpent];

/** @returns the answer if no new lease is to be granted; undefined if one is */
export function answerWithoutGrant(request: ClaimRequest, facts: ClaimFacts): ClaimResult | undefined {
  for (const check of claimChecks) {
    const answer = check(request, facts);
    if (answer !== undefined) return answer;
  }
  return undefined;
}
