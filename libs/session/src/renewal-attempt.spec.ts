import { plusMs } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { anIssuedSession, aSession, FakeClock, RecordedEvents, someSettings } from '#libs/testing';
import { CallCeiling } from './call-ceiling.js';
import { FailureBoard } from './failure-board.js';
import { renewAndFollow } from './followed-renewal.js';
import { GatewayFailure } from './gateway-failure.js';
import { HeldSessions } from './held-sessions.js';
import type { LeaseRelease } from './ports/session-store.js';
import { untraced } from './ports/tracing.js';
import { type AttemptContext, type AttemptResult, PUBLISH_ALLOWANCE_MS, RenewalAttempt } from './renewal-attempt.js';
import { reportAttempt, reportTimes } from './renewal-report.js';
import { meansStoreIsAhead, type RenewalResult } from './renewal-result.js';
import type { IssuedSession, Session } from './session.js';

const settings = someSettings({ gatewayTimeoutMs: 5_000 });

function attemptWith(leftMs: number): RenewalAttempt {
  const clock = new FakeClock();
  clock.freeze(1_000);
  const held = new HeldSessions(clock);
  held.adopt(aSession({ generation: 8 }), 0);
  const lease = { merchant: 'shop', owner: 'replica-1', fence: 10, remainingMs: leftMs, failures: 0 };
  return new RenewalAttempt({ clock, held } as unknown as AttemptContext, {
    lease: { lease, endsAtMs: 1_000 + leftMs },
    settings,
    onIssued: () => undefined,
    onGivenUp: () => Promise.resolve(),
  });
}

describe('the rest of a lease', () => {
  it.each([
    [5_000 + PUBLISH_ALLOWANCE_MS, true],
    [5_000 + PUBLISH_ALLOWANCE_MS - 1, false],
    [1, false],
    [0, false],
  ])('of %d ms is long enough for the longest call and its publication: %s', (leftMs, isLongEnough) => {
    expect(attemptWith(leftMs).isLongEnough).toBe(isLongEnough);
  });
});

describe('a call that is aborted', () => {
  function aborting() {
    const clock = new FakeClock();
    const releases: LeaseRelease[] = [];
    const gateway = {
      createSession: ({ signal }: { signal: AbortSignal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new GatewayFailure({ kind: 'aborted', detail: 'on purpose' })));
        }),
    };
    const store = { release: async (_lease: unknown, release: LeaseRelease) => releases.push(release) > 0 };
    const ports = {
      clock,
      gateway,
      store,
      held: new HeldSessions(clock),
      failures: new FailureBoard(),
      ceiling: new CallCeiling(clock),
      random: () => 0.5,
      tracing: untraced,
    };
    const lease = { merchant: 'shop', owner: 'replica-1', fence: 10, remainingMs: 10_000, failures: 0 };
    const attempt = new RenewalAttempt(ports as unknown as AttemptContext, {
      lease: { lease, endsAtMs: 10_000 },
      settings,
      onIssued: () => undefined,
      onGivenUp: () => Promise.resolve(),
    });
    return { clock, releases, attempt, held: ports.held };
  }

  it('by the end of its lease is a timeout to everybody else, and is followed by a back-off', async () => {
    const { clock, releases, attempt } = aborting();
    const result = attempt.run(new AbortController().signal);
    await clock.advance(10_000 - PUBLISH_ALLOWANCE_MS);
    expect(await result).toMatchObject({ kind: 'failed', outcome: 'timeout', retryInMs: 1_500 });
    expect(releases).toEqual([{ called: true, nextDueInMs: 1_500, failure: { kind: 'timeout', at: clock.now() } }]);
  });

  it('leaves its fence behind as the floor of the next claim: no call is made twice under one', async () => {
    const { clock, attempt, held } = aborting();
    const result = attempt.run(new AbortController().signal);
    expect(held.floor('shop')).toBe(10);
    await clock.advance(10_000);
    await result;
    expect(held.floor('shop')).toBe(10);
  });

  it('by a shutdown is not a failure, and is not given back to the budget', async () => {
    const { clock, releases, attempt } = aborting();
    const shutdown = new AbortController();
    const result = attempt.run(shutdown.signal);
    await clock.settle();
    shutdown.abort();
    expect(await result).toEqual({ kind: 'abandoned' });
    expect(releases).toEqual([{ called: true, nextDueInMs: 0 }]);
  });
});

describe('after a wish for a newer session', () => {
  it.each<[RenewalResult, boolean]>([
    [{ kind: 'already_newer' }, true],
    [{ kind: 'lost', retryInMs: 0 }, true],
    [{ kind: 'renewed' }, false],
    [{ kind: 'failed', because: 'transient', retryInMs: 0 }, false],
    [{ kind: 'held', retryInMs: 0 }, false],
  ])('%j: the store has a session of others: %s', (result, isAhead) => {
    expect(meansStoreIsAhead(result)).toBe(isAhead);
  });
});

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

const request = { merchant: 'shop', trigger: 'demand', newerThan: 0, coolDownMs: 0 } as const;
const bug = new TypeError('not a function');

/** The result of a wish, and what is read from the store for it, now and later. */
async function following(result: RenewalResult, refreshing?: Error) {
  const [read, wanted]: [string[], string[]] = [[], []];
  const parts = {
    renewer: { renew: async () => result },
    sync: {
      want: (merchants: readonly string[]) => wanted.push(...merchants),
      refresh: async (merchant: string) => {
        read.push(merchant);
        if (refreshing !== undefined) throw refreshing;
      },
    },
  } as unknown as Parameters<typeof renewAndFollow>[0];
  return { read, wanted, result: await renewAndFollow(parts, request) };
}

describe('a wish whose outcome is followed', () => {
  it('is read back later when it was fulfilled: its next due moment is watched from its beginning', async () => {
    const result = { kind: 'renewed' } as const;
    expect(await following(result)).toEqual({ read: [], wanted: ['shop'], result });
  });

  it.each<RenewalResult>([{ kind: 'already_newer' }, { kind: 'lost', retryInMs: 0 }])(
    'has the session of others read before it is answered: %j',
    async (result) => expect(await following(result)).toEqual({ read: ['shop'], wanted: [], result }),
  );

  it('that was merely refused causes no read', async () => {
    const result = { kind: 'held', retryInMs: 5_000 } as const;
    expect(await following(result)).toEqual({ read: [], wanted: [], result });
  });

  it.each(['store_unavailable', 'store_refused'] as const)(
    'has not been fulfilled when the session of others cannot be read: %s',
    async (code) => {
      const { result } = await following({ kind: 'already_newer' }, new BrokerError(code));
      expect(result).toEqual({ kind: 'store_down', retryInMs: 1_000 });
    },
  );

  it('hides no bug', async () => {
    await expect(following({ kind: 'already_newer' }, bug)).rejects.toBe(bug);
  });
});
