import type {
  StatusCondition,
  StatusCounts,
  StatusDocument,
  StatusMerchant,
  StatusReplica,
} from '../status-document.js';
import { headlineOf } from './headline.js';

const well = {
  unavailable: 0,
  stale: 0,
  foreign_authorizer: 0,
  reported_dead: 0,
  held_back: 0,
  failing: 0,
  renewing: 0,
  fresh: 0,
};
const replica: StatusReplica = {
  name: 'broker-0',
  version: '0.1.0',
  startedAt: 0,
  ready: true,
  storeReached: true,
  shuttingDown: false,
  watchers: 0,
  viewers: 1,
  residentBytes: 1,
  eventLoopLagMs: { latest: 0, worst: 0 },
};
const store = { type: 'redis', condition: 'answers' } as const;
const refused = 'the bank refuses: b_merchant_not_found';
const unheard = 'nothing listens there (ECONNREFUSED to 127.0.0.1:9)';
const headline = (counts: Partial<StatusCounts>, state: object = {}): string[] => {
  const { condition, text, detail } = headlineOf(
    { store, replica, merchants: [], ...state },
    { ...well, ...counts },
    0,
  );
  return [condition, text, detail];
};

const blocked = (expiresAt: number): StatusMerchant => ({
  id: `shop-${expiresAt}`,
  required: true,
  environment: 'production',
  condition: 'failing',
  reason: 'current',
  session: { generation: 1, createdAt: 0, renewAt: 1, mustRenewAt: 2, expiresAt },
  renewing: false,
  renewalBlocked: true,
  budgetSpent: false,
  renewals: [],
});

describe('the headline', () => {
  it.each<[Partial<StatusCounts>, string[]]>([
    [{ fresh: 1 }, ['fresh', 'The session is good', '']],
    [{ fresh: 9_999, renewing: 1 }, ['fresh', 'All 10,000 sessions are good', '9,999 fresh']],
    [{ unavailable: 1 }, ['unavailable', 'There is no session to serve', '']],
    [{ unavailable: 1, fresh: 5 }, ['unavailable', '1 merchant has no session to serve', '5 fresh']],
    [
      { unavailable: 2, stale: 3, fresh: 5 },
      ['unavailable', '2 merchants have no session to serve', '3 past the margin · 5 fresh'],
    ],
    [{ stale: 1, fresh: 5 }, ['stale', '1 session is past the safety margin', '5 fresh']],
    [
      { foreign_authorizer: 1, failing: 2 },
      [
        'foreign_authorizer',
        'Payments fail: somebody else ends the sessions of 1 merchant by creating others',
        '2 failing',
      ],
    ],
    [{ reported_dead: 1, failing: 2 }, ['reported_dead', 'Payments of 1 merchant may fail', '2 failing']],
    [{ failing: 2, fresh: 5 }, ['failing', '2 renewals fail; the sessions are still good', '5 fresh']],
    [{}, ['renewing', 'No merchant is configured', '']],
  ])('names the worst of %j', (counts, expected) => {
    expect(headline(counts)).toEqual(expected);
  });

  it.each<[Partial<StatusCounts>, (readonly [StatusCondition, string])[], string]>([
    [{ unavailable: 1 }, [['unavailable', refused]], `There is no session to serve: ${refused}`],
    [{ unavailable: 1, fresh: 5 }, [['unavailable', unheard]], `1 merchant has no session to serve: ${unheard}`],
    [
      { unavailable: 2, failing: 1 },
      [
        ['unavailable', refused],
        ['unavailable', refused],
        ['failing', unheard],
      ],
      `2 merchants have no session to serve: ${refused}`,
    ],
    [
      { unavailable: 2 },
      [
        ['unavailable', unheard],
        ['unavailable', refused],
      ],
      `2 merchants have no session to serve; shop-0: ${unheard}`,
    ],
    [{ failing: 1, fresh: 5 }, [['failing', unheard]], `1 renewal fails: ${unheard}; the sessions are still good`],
  ])('names the cause in its first sentence: %j %j', (counts, merchants, expected) => {
    const listed = merchants.map(([condition, text], index) => ({
      id: `shop-${index}`,
      condition,
      cause: { text, runbook: 'access-refused' },
    }));
    expect(headline(counts, { merchants: listed })[1]).toBe(expected);
    const state = { store, replica, merchants: listed } as unknown as StatusDocument;
    expect(headlineOf(state, { ...well, ...counts }, 0).runbook).toBe('access-refused');
  });

  it('leads to the runbook of a store that is away, says what ends when, and promises nothing once it has ended', () => {
    const silent = { type: 'redis', condition: 'silent', reason: 'ECONNREFUSED' } as const;
    const state = { store: silent, replica, merchants: [blocked(33_000)] };
    expect(headlineOf(state, { ...well, fresh: 1 }, 0)).toEqual({
      condition: 'failing',
      text: 'The session is good',
      detail:
        'The store does not answer (ECONNREFUSED): sessions are served from memory, and nothing is renewed; the session of shop-33000 ends in 30 s.',
      runbook: 'store-down',
    });
    expect(headlineOf(state, { ...well, unavailable: 1 }, 40_000)).toMatchObject({
      text: 'There is no session to serve',
      detail: 'The store does not answer (ECONNREFUSED): nothing is renewed.',
    });
    const free = { ...blocked(20_000), renewalBlocked: false };
    expect(headlineOf({ ...state, merchants: [free, blocked(70_000)] }, { ...well, fresh: 2 }, 0).detail).toMatch(
      /and some are not renewed; the session of shop-70000 ends in 1 min[.]$/,
    );
    expect(headlineOf(state, { ...well, fresh: 2 }, 0).detail).toMatch(/and nothing is renewed[.]$/);
  });

  it('names the merchant and what it has left where there is only one', () => {
    const merchants = [
      { ...blocked(119_000), renewalBlocked: false, cause: { text: unheard, runbook: 'renewals-failing' } },
    ];
    expect(headline({ failing: 1 }, { merchants })[1]).toBe(
      `shop-119000 is not renewed: ${unheard}; its session is good for another 1 min`,
    );
  });

  it('is not calm while the store is down or the replica stops, and never hides what is worse', () => {
    const down = { store: { type: 'redis', condition: 'silent', reason: 'ECONNREFUSED' } };
    expect(headline({ fresh: 2 }, down)).toEqual([
      'failing',
      'All 2 sessions are good',
      'The store does not answer (ECONNREFUSED): sessions are served from memory.',
    ]);
    expect(headline({ unavailable: 1, fresh: 1 }, down)[0]).toBe('unavailable');
    const refusing = { store: { type: 'redis', condition: 'refuses', reason: 'NOPERM' } };
    expect(headline({ fresh: 2 }, { ...refusing, merchants: [blocked(90_000), blocked(33_000)] })).toEqual([
      'failing',
      'All 2 sessions are good',
      'The store refuses (NOPERM): sessions are served from memory, and nothing is renewed; the session of shop-33000 ends in 30 s.',
    ]);
    const stopping = { replica: { ...replica, shuttingDown: true } };
    expect(headline({ fresh: 2 }, stopping)).toEqual([
      'failing',
      'All 2 sessions are good',
      'This replica is shutting down.',
    ]);
  });
});
