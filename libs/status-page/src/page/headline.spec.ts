import type { StatusCondition, StatusCounts, StatusDocument, StatusReplica } from '../status-document.js';
import { headlineOf } from './headline.js';

const well = { unavailable: 0, stale: 0, foreign_authorizer: 0, reported_dead: 0, failing: 0, renewing: 0, fresh: 0 };
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
  const { condition, text, detail } = headlineOf({ store, replica, merchants: [], ...state }, { ...well, ...counts });
  return [condition, text, detail];
};

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
      ['foreign_authorizer', 'Somebody else ends the sessions of 1 merchant by creating others', '2 failing'],
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
    expect(headlineOf(state, { ...well, ...counts }).runbook).toBe('access-refused');
  });

  it('is not calm while the store is down or the replica stops, and never hides what is worse', () => {
    const down = { store: { type: 'redis', condition: 'silent' } };
    expect(headline({ fresh: 2 }, down)).toEqual([
      'failing',
      'All 2 sessions are good',
      'The store does not answer: sessions are served from memory.',
    ]);
    expect(headline({ unavailable: 1, fresh: 1 }, down)[0]).toBe('unavailable');
    const refusing = { store: { type: 'redis', condition: 'refuses', reason: 'NOPERM' } };
    expect(headline({ fresh: 2 }, refusing)).toEqual([
      'failing',
      'All 2 sessions are good',
      'The store refuses (NOPERM): sessions are served from memory, and none is created.',
    ]);
    const stopping = { replica: { ...replica, shuttingDown: true } };
    expect(headline({ fresh: 2 }, stopping)).toEqual([
      'failing',
      'All 2 sessions are good',
      'This replica is shutting down.',
    ]);
  });
});
