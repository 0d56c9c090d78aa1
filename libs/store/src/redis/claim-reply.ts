import type { ClaimRefusal, ClaimRequest, ClaimResult } from '#libs/session';

/** Reads what claim.lua returns. */
export function readClaimReply(reply: unknown, request: ClaimRequest): ClaimResult {
  const [kind, first, second, failures] = reply as [ClaimResult['kind'], ...string[]];
  switch (kind) {
    case 'claimed': {
      const { merchant, owner } = request;
      const lease = { merchant, owner, fence: Number(first), remainingMs: Number(second), failures: Number(failures) };
      return { kind, lease };
    }
    case 'already_newer':
      return { kind, generation: Number(first) };
    default:
      return refusal(kind, Number(first), second);
  }
}

const refusal = (kind: ClaimRefusal['kind'], retryInMs: number, mark: string | undefined): ClaimRefusal =>
  mark === undefined ? { kind, retryInMs } : { kind, retryInMs, mark };
