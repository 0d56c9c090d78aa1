import type { ClaimRefusal, ClaimRequest, ClaimResult } from '#libs/session';

/** Reads what claim.lua returns. */
export function readClaimReply(reply: unknown, request: ClaimRequest): ClaimResult {
  const [kind, ...numbers] = reply as [ClaimResult['kind'], ...string[]];
  const [first = NaN, remainingMs = NaN, failures = NaN] = numbers.map(Number);
  switch (kind) {
    case 'claimed': {
      const { merchant, owner } = request;
      return { kind, lease: { merchant, owner, fence: first, remainingMs, failures } };
    }
    case 'already_newer':
      return { kind, generation: first };
    default:
      return refusal(kind, first);
  }
}

const refusal = (kind: ClaimRefusal['kind'], retryInMs: number): ClaimRefusal => ({ kind, retryInMs });
