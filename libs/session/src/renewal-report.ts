import type { SessionEvent } from './ports/session-events.js';
import { exceedsTolerance, measureSkew } from './clock-skew.js';
import { implausibleTimes } from './session-admission.js';
import { leadTimeShortfall } from './session-moments.js';
import type { SessionSettings } from './session-settings.js';
import type { IssuedSession, Session } from './session.js';

/** What a person should know about a new session's times. */
export function timesOf(
  session: Session,
  { settings, issued }: { readonly settings: SessionSettings; readonly issued: IssuedSession },
): readonly SessionEvent[] {
  const { merchant } = session;
  const events: SessionEvent[] = [];
  const skew = measureSkew(issued);
  if (skew !== undefined) {
    events.push({ event: 'clock_skew', merchant, skewMs: skew.likelyMs, beyondTolerance: exceedsTolerance(skew) });
  }
  for (const implausible of implausibleTimes(issued, settings)) {
    events.push({ event: 'implausible_time', merchant, ...implausible });
  }
  const shortfall = leadTimeShortfall(session, settings);
  if (shortfall !== undefined) events.push({ event: 'lead_time_short', merchant, ...shortfall });
  return events;
}
