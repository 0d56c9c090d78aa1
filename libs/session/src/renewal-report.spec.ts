import { plusMs } from '#libs/clock';
import { anIssuedSession, aSession, RecordedEvents, someSettings } from '#libs/testing';
import { reportAttempt, reportTimes } from './renewal-report.js';
import type { AttemptResult } from './renewal-attempt.js';
import type { IssuedSession, Session } from './session.js';

const session = aSession();
const sentAt = session.createdAt;
const receivedAt = plusMs(sentAt, 50);

function told(made: Session, issued: Partial<IssuedSession>, longestLifetimeMs?: number): readonly object[] {
  const events = new RecordedEvents();
  const settings = someSettings(longestLifetimeMs === undefined ? {} : { longestLifetimeMs });
  reportTimes(events, made, { settings, issued: anIssuedSession({ sentAt, receivedAt, ...issued }) });
  return events.all;
}

describe('what a person should know of a new session’s times', () => {
  it('is told: a clock that goes wrong, an end that is not believed, and a lead that is too short', () => {
    const issued = { gatewayDate: plusMs(sentAt, 60_000), expiresAt: plusMs(receivedAt, 900_000) };
    expect(told({ ...session, mustRenewAt: plusMs(session.renewAt, 5_000) }, issued, 10_000)).toEqual([
      { event: 'clock_skew', merchant: 'shop', skewMs: 60_475, beyondTolerance: true },
      { event: 'implausible_time', merchant: 'shop', kind: 'lifetime', statedMs: 839_000, mostMs: 10_000 },
      { event: 'lead_time_short', merchant: 'shop', leadMs: 5_000, neededMs: 11_000 },
    ]);
  });

  it('is told of a clock that is right as well, but not that it is wrong', () => {
    expect(told(session, { gatewayDate: sentAt })).toEqual([
      { event: 'clock_skew', merchant: 'shop', skewMs: 475, beyondTolerance: false },
    ]);
  });

  it('is nothing where the gateway has no clock to be seen, and there is time enough', () => {
    expect(told(session, {})).toEqual([]);
  });
});

describe('how long the call to the gateway took', () => {
  it('is told apart from what the store took to keep its result', () => {
    const issued = anIssuedSession({ sentAt, receivedAt });
    const made = { session, answeredAtMs: 50, known: 0 };
    const failed = { outcome: 'timeout', retryInMs: 1, callMs: 30, failure: {}, recorded: {} } as never as object;
    for (const [result, callMs] of [
      [{ kind: 'published', session, issued }, 50],
      [{ kind: 'unconfirmed', made, issued }, 50],
      [{ kind: 'failed', ...failed }, 30],
    ] as const) {
      const events = new RecordedEvents();
      const ended = { generation: 7, result: result as AttemptResult, durationMs: 10_900 };
      reportAttempt(events, { merchant: 'shop', trigger: 'startup' }, ended);
      expect(events.of('renewal_finished')).toMatchObject([{ durationMs: 10_900, callMs }]);
    }
  });
});
