import type { FailureTrace } from './failure-trace.js';
import type { GatewayFailure } from './gateway-failure.js';
import { type Granted, liveForMsOf, type Merchant, needsInMsOf, type Now } from './merchant.js';
import { budgetOf } from './obstacles.js';
import type { RenewalOutcome } from './ports/session-events.js';
import type { RecordedFailure } from './ports/session-store.js';
import { retryDelayMs } from './retry-policy.js';

/** What a failed create-session call amounts to. */
interface FailedCall {
  readonly outcome: RenewalOutcome;
  readonly retryInMs: number;
  /** The failure in a form that every replica may show. */
  readonly recorded: RecordedFailure;
}

/** Judges a failed call. */
export function failedCall(
  merchant: Merchant,
  { lease: { failures }, settings, failure }: Granted & { readonly failure: GatewayFailure },
  now: Now,
): FailedCall {
  const { shownCode: msgCode, retryAfterMs, wasReached, trace } = failure;
  // An abort that shutdown did not ask for means that the time ran out: to everyone else, a timeout.
  const kind = failure.kind === 'aborted' ? 'timeout' : failure.kind;
  const attempt = {
    ...{ kind, failures, retryAfterMs, wasReached },
    isSealedElsewhere: trace?.thumbprint !== undefined,
    needsInMs: needsInMsOf(merchant, now, settings),
    liveForMs: liveForMsOf(merchant, now),
    budget: budgetOf(merchant, settings),
  };
  return {
    outcome: kind,
    retryInMs: retryDelayMs(attempt, now.chance),
    recorded: {
      kind,
      at: now.wall,
      ...(msgCode === undefined ? {} : { msgCode }),
      ...traceOf(trace, merchant.failure),
    },
  };
}

/**
 * Whatever ends the next call, the session that was lost before it has ended ours: only a newer one puts that right.
 */
function traceOf(trace: FailureTrace | undefined, before: RecordedFailure | undefined): Pick<RecordedFailure, 'trace'> {
  if (before?.trace?.lostSession === true) return { trace: { ...trace, lostSession: true } };
  return trace === undefined ? {} : { trace };
}
