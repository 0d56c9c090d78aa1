import type { ClaimRefusal, ClaimRequest, ClaimResult } from '#libs/session';

/** Reads what claim.lua returns. */
export function readClaimReply(reply: unknown, request: ClaimRequest): ClaimResult {
  const [kind, first, second, third] = reply as [ClaimResult['kind'], ...string[]];
  switch (kind) {
    case 'claimed': {
      const { merchant, owner } = request;
      const lease = { merchant, owner, fence: Number(first), remainingMs: Number(second), failures: Number(third) };
      return { kind, lease };
    }
    case 'already_newer':
      return { kind, generation: Number(first) };
    case 'budget_exhausted':
      return {
        kind,
        retryInMs: Number(first),
        ...(second === undefined ? {} : { mark: second }),
        perMs: Number(third),
      };
    default:
      return refusal(kind, Number(first), second);
  }
}

const refusal = (kind: ClaimRefusal['kind'], retryInMs: number, mark: string | undefined): ClaimRefusal =>
  mark === undefined ? { kind, retryInMs } : { kind, retryInMs, mark };
