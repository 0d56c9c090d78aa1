import { msBetween } from '#libs/clock';
import type { RenewalTrigger, SessionEvents } from './ports/session-events.js';
import { exceedsTolerance, measureSkew } from './clock-skew.js';
import type { AttemptResult } from './renewal-attempt.js';
import { implausibleTimes } from './session-admission.js';
import { leadTimeShortfall } from './session-moments.js';
import type { SessionSettings } from './session-settings.js';
import type { IssuedSession, Session } from './session.js';

export interface EndedAttempt {
  readonly kind: 'ended';
  readonly generation: number;
  readonly result: AttemptResult;
  readonly durationMs: number;
}

/** Reports what became of an attempt: one event that it finished, and another if something is out of the ordinary. */
export function reportAttempt(
  events: SessionEvents,
  wish: { readonly merchant: string; readonly trigger: RenewalTrigger },
  { generation, result, durationMs }: Omit<EndedAttempt, 'kind'>,
): void {
  const { merchant, trigger } = wish;
  if (result.kind === 'abandoned') return events.emit({ event: 'renewal_abandoned', merchant, generation });
  const callMs = callMsOf(result);
  const finished = { event: 'renewal_finished', merchant, trigger, generation, durationMs, callMs } as const;
  switch (result.kind) {
    case 'published':
      return events.emit({ ...finished, outcome: 'success' });
    case 'unconfirmed':
    case 'alone':
      events.emit({ ...finished, outcome: 'success' });
      return events.emit({ event: 'unconfirmed_publish', merchant, generation });
    case 'failed': {
      const { outcome, failure, retryInMs } = result;
      return events.emit({ ...finished, outcome, failure, retryInMs: Math.round(retryInMs) });
    }
    case 'late':
      events.emit({ event: 'late_result', merchant, generation });
      return events.emit({ ...finished, outcome: 'lease_lost' });
    case 'fenced':
      events.emit({ event: 'fenced_publish', merchant, generation });
      return events.emit({ ...finished, outcome: 'lease_lost' });
  }
}

/** The time the store takes to keep a result is not the gateway's. */
function callMsOf(result: Exclude<AttemptResult, { kind: 'abandoned' }>): number {
  return result.kind === 'failed' ? result.callMs : msBetween(result.issued.sentAt, result.issued.receivedAt);
}

/** Reports what a person should know about a new session's times. */
export function reportTimes(
  events: SessionEvents,
  session: Session,
  { settings, issued }: { readonly settings: SessionSettings; readonly issued: IssuedSession },
): void {
  const { merchant } = session;
  const skew = measureSkew(issued);
  if (skew !== undefined) {
    events.emit({ event: 'clock_skew', merchant, skewMs: skew.likelyMs, beyondTolerance: exceedsTolerance(skew) });
  }
  for (const implausible of implausibleTimes(issued, settings)) {
    events.emit({ event: 'implausible_time', merchant, ...implausible });
  }
  const shortfall = leadTimeShortfall(session, settings);
  if (shortfall !== undefined) events.emit({ event: 'lead_time_short', merchant, ...shortfall });
}
