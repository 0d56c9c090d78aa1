import { budgetInForce } from './create-call-budget.js';
import type { FailureTrace } from './failure-trace.js';
import type { GatewayFailure } from './gateway-failure.js';
import type { RenewalOutcome } from './ports/session-events.js';
import type { RecordedFailure } from './ports/session-store.js';
import type { ReplicaContext } from './replica-context.js';
import { retryDelayMs } from './retry-policy.js';
import type { SessionSettings } from './session-settings.js';

/** What a failed create-session call amounts to, whether it was made under a lease or alone. */
export interface FailedCall {
  readonly outcome: RenewalOutcome;
  readonly retryInMs: number;
  /** The failure in a form that every replica may show. */
  readonly recorded: RecordedFailure;
}

interface FailingMerchant {
  readonly merchant: string;
  /** How many attempts in a row had failed before this one. */
  readonly failures: number;
  readonly settings: SessionSettings;
}

/** Judges a failed call, and removes one that never reached the gateway from this replica's count. */
export function failedCall(
  context: Pick<ReplicaContext, 'ceiling' | 'clock' | 'random' | 'held' | 'failures'>,
  { merchant, failures, settings }: FailingMerchant,
  failure: GatewayFailure,
): FailedCall {
  const { shownCode: msgCode, retryAfterMs, wasReached, trace } = failure;
  // An abort that shutdown did not ask for means that the time ran out: to everyone else, a timeout.
  const kind = failure.kind === 'aborted' ? 'timeout' : failure.kind;
  if (!wasReached) context.ceiling.giveBack(merchant);
  const { held } = context;
  const needsInMs = [
    held.untilRenewalMs(merchant),
    held.untilLastAttemptMs(merchant, settings),
    held.facts(merchant).leftMs,
  ];
  const isSealedElsewhere = trace?.thumbprint !== undefined;
  const attempt = {
    ...{ kind, failures, retryAfterMs, wasReached, isSealedElsewhere, needsInMs },
    liveForMs: held.liveForMs(merchant),
    budget: budgetInForce(settings, held.get(merchant)),
  };
  return {
    outcome: kind,
    retryInMs: retryDelayMs(attempt, context.random()),
    recorded: {
      kind,
      at: context.clock.now(),
      ...(msgCode === undefined ? {} : { msgCode }),
      ...traceOf(trace, context.failures.get(merchant)),
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
