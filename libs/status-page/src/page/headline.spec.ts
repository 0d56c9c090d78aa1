import type { StatusCondition, StatusCounts, StatusDocument, StatusMerchant } from '../status-document.js';
import { countConditions } from './condition.js';
import { headlineOf } from './headline.js';
import { blocked, replica, silent } from './played-status.js';

const well = countConditions([], 0);
const store = { type: 'redis', condition: 'answers' } as const;
const refused = 'the bank refuses: b_merchant_not_found';
const unheard = 'nothing listens there (ECONNREFUSED to 127.0.0.1:9)';
const headline = (counts: Partial<StatusCounts>, state: object = {}): string[] => {
  const document = { store, replica, merchants: [], ...state };
  const { condition, text, detail } = headlineOf(document, { ...well, ...counts }, 0);
  return [condition, text, detail];
};

const goOn = 'The payments of each go on until its own session ends.';

const GO_ON =
  ' Until they end, sessions are served from memory and payments go on, unless session-broker status shows a replica with an older one.';
const AGAIN = ' Renewals go on by themselves as soon as the store works again.';

describe('the headline', () => {
  it.each<[Partial<StatusCounts>, string[]]>([
    [{ fresh: 1 }, ['fresh', 'The session is good', '']],
    [{ fresh: 9_999, renewing: 1 }, ['fresh', 'All 10,000 sessions are good', '1 renewing · 9,999 fresh']],
    [{ unavailable: 1 }, ['unavailable', '1 merchant has no session with the bank, and its payments fail', '']],
    [
      { unavailable: 1, fresh: 5 },
      ['unavailable', '1 merchant has no session with the bank, and its payments fail', 'Others: 5 fresh'],
    ],
    [
      { unavailable: 2, stale: 3, fresh: 5 },
      [
        'unavailable',
        '2 merchants have no session with the bank, and their payments fail',
        'Others: 3 past the margin · 5 fresh',
      ],
    ],
    [{ stale: 1, fresh: 5 }, ['stale', '1 merchant gets no new session', `${goOn} Others: 5 fresh`]],
    [
      { foreign_authorizer: 1, failing: 2 },
      [
        'foreign_authorizer',
        'Payments of 1 merchant fail: somebody else creates sessions with the bank, and each of them ends ours',
        'Others: 2 failing',
      ],
    ],
    [{ reported_dead: 1, failing: 2 }, ['reported_dead', 'Payments of 1 merchant may fail', 'Others: 2 failing']],
    [{ failing: 2, fresh: 5 }, ['failing', '2 merchants get no new session', `${goOn} Others: 5 fresh`]],
    [{}, ['renewing', 'No merchant is configured', '']],
  ])('names the worst of %j', (counts, expected) => {
    expect(headline(counts)).toEqual(expected);
  });

  it.each<[Partial<StatusCounts>, (readonly [StatusCondition, string])[], string]>([
    [
      { unavailable: 1 },
      [['unavailable', refused]],
      `shop-0 has no session with the bank, and its payments fail: ${refused}`,
    ],
    [
      { unavailable: 1, fresh: 5 },
      [['unavailable', unheard]],
      `shop-0 has no session with the bank, and its payments fail: ${unheard}`,
    ],
    [
      { unavailable: 2, failing: 1 },
      [
        ['unavailable', refused],
        ['unavailable', refused],
        ['failing', unheard],
      ],
      `2 merchants have no session with the bank, and their payments fail: ${refused}`,
    ],
    [
      { unavailable: 2 },
      [
        ['unavailable', unheard],
        ['unavailable', refused],
      ],
      `2 merchants have no session with the bank, and their payments fail; shop-0: ${unheard}`,
    ],
    [{ failing: 1, fresh: 5 }, [['failing', unheard]], `shop-0 gets no new session: ${unheard}`],
  ])('names the cause in its first sentence: %j %j', (counts, merchants, expected) => {
    const listed = merchants.map(([condition, text], index) => ({
      ...(condition === 'unavailable' ? {} : blocked(60_000)),
      id: `shop-${index}`,
      condition,
      cause: { text, runbook: 'access-refused' },
    }));
    expect(headline(counts, { merchants: listed })[1]).toBe(expected);
    const state = { store, replica, merchants: listed } as unknown as StatusDocument;
    expect(headlineOf(state, { ...well, ...counts }, 0).runbook).toBe('access-refused');
  });

  it('tells the time that is left of a renewal that the budget holds up as its ending, which is not read aloud each second', () => {
    const spent = 'all 5 create calls of 10 min are spent; the next one is free at 20:14:00 UTC';
    const text = `${spent}; its session is good for another 8 s`;
    const cause = { text, inHeadline: spent, runbook: 'budget-exhausted' };
    const heldBack = { ...blocked(8_400), condition: 'held_back', renewalBlocked: false, cause } as const;
    const told = (counts: Partial<StatusCounts>): object =>
      headlineOf({ store, replica, merchants: [heldBack] }, { ...well, ...counts }, 0);
    expect(told({ held_back: 1 })).toMatchObject({
      condition: 'held_back',
      text: `shop-8400 gets no new session: ${spent}`,
      ending: '; its session is good for another 8 s',
      runbook: 'budget-exhausted',
      also: undefined,
    });
    expect(told({ held_back: 1, fresh: 2 })).toMatchObject({
      text: `shop-8400 gets no new session: ${spent}`,
    });
  });

  it('says of a store that is away what is not renewed, what ends when, and each of it once', () => {
    const state = { store: silent, replica, merchants: [blocked(33_000)] };
    expect(headlineOf(state, { ...well, fresh: 1 }, 0)).toEqual({
      condition: 'failing',
      text: 'Nothing is renewed: the store (Redis) does not answer',
      ending: '; the session of shop-33000 ends in 33 s',
      because: '',
      detail: `Reason: ECONNREFUSED.${GO_ON} Tell those who run Redis.${AGAIN}`,
      runbook: 'store-down',
      also: undefined,
    });
    const cause = { text: 'the store does not answer', runbook: 'store-down' };
    const ended = { ...blocked(33_000), condition: 'unavailable', cause } as const;
    expect(headlineOf({ ...state, merchants: [ended] }, { ...well, unavailable: 1 }, 40_000)).toEqual({
      condition: 'unavailable',
      text: 'shop-33000 has no session with the bank, and its payments fail: the store does not answer',
      ending: '',
      because: '',
      detail: `The store (Redis) does not answer: ECONNREFUSED. Tell those who run Redis.${AGAIN}`,
      runbook: 'store-down',
      also: undefined,
    });
    expect(
      headlineOf({ ...state, merchants: [ended, blocked(70_000)] }, { ...well, unavailable: 1, fresh: 1 }, 40_000),
    ).toMatchObject({
      condition: 'unavailable',
      text: 'shop-33000 has no session with the bank, and its payments fail: the store does not answer',
      ending: '; the session of shop-70000 ends in 30 s',
      detail: expect.stringMatching(
        ' Until they end, the other sessions are served from memory and payments go on, unless session-broker status shows a replica with an older one. Tell those who run Redis. R',
      ),
    });
    const dead = { ...blocked(70_000), condition: 'reported_dead' } as const;
    const counts = { ...well, unavailable: 1, reported_dead: 1 };
    const noneGoesOn = headlineOf({ ...state, merchants: [ended, dead] }, counts, 40_000);
    expect(noneGoesOn.detail).not.toContain('payments go on');
    expect(headline({ unavailable: 1 }, { store: silent, merchants: [] })[2]).not.toContain('served from memory');
  });

  it('promises nothing of a session that is reported dead while the store is away, and counts it', () => {
    const ended = { ...blocked(33_000), condition: 'unavailable' } as const;
    const reported = { ...blocked(60_000), condition: 'reported_dead' } as const;
    const merchants = [ended, reported, blocked(70_000)];
    const counts = { ...well, unavailable: 1, reported_dead: 1, fresh: 1 };
    const told = headlineOf({ store: silent, replica, merchants }, counts, 40_000);
    expect(told.ending).toBe('; the session of shop-70000 ends in 30 s');
    expect(told.detail).toMatch(/; a session reported dead may wait for [^.]*\. Others: 1 reported dead · 1 fresh$/);
  });

  it('names the first end among those that the store holds up, and none while some are not listed', () => {
    const free = { ...blocked(20_000), renewalBlocked: false };
    const some = { store: silent, replica, merchants: [free, blocked(70_000)] };
    expect(headlineOf(some, { ...well, fresh: 2 }, 0)).toMatchObject({
      text: '1 merchant is not renewed: the store (Redis) does not answer',
      ending: '; the session of shop-70000 ends in 1 min 10 s',
    });
    expect(headlineOf({ ...some, merchants: [blocked(33_000)] }, { ...well, fresh: 2 }, 0)).toMatchObject({
      text: 'Nothing is renewed: the store (Redis) does not answer',
      ending: '',
    });
  });

  it('says that payments fail before it says what the store holds up', () => {
    const merchants = [{ ...blocked(33_000), condition: 'foreign_authorizer' as const }];
    const said = headlineOf({ store: silent, replica, merchants }, { ...well, foreign_authorizer: 1 }, 0);
    expect(said.text).toMatch(/^Payments of shop-33000 fail: /);
    expect(said.detail).toMatch(
      /^The store \(Redis\) does not answer: ECONNREFUSED\. Tell those who run Redis\. Renewals go on /,
    );
  });

  it('says in red that payments very likely fail where the bank has made a session that is of no use to us', () => {
    const text = `the bank has made a session that we cannot use, and it ends ours; ${refused}`;
    const cause = { text, runbook: 'access-refused' };
    const lost = { ...blocked(33_000), condition: 'likely_dead' as const, renewalBlocked: false, cause };
    const told = (merchant: StatusMerchant, counts: Partial<StatusCounts>, now = 0): object =>
      headlineOf({ store, replica, merchants: [merchant] }, { ...well, ...counts }, now);
    expect(told(lost, { likely_dead: 1, failing: 2 })).toEqual({
      condition: 'likely_dead',
      text: `Payments of shop-33000 very likely fail: ${text}`,
      ending: '',
      because: '',
      detail: 'Others: 2 failing',
      runbook: 'access-refused',
      also: undefined,
    });
    expect(told({ ...lost, retryAt: 90_000 }, { likely_dead: 1 })).toMatchObject({
      condition: 'likely_dead',
      ending: '',
    });
  });

  it('says in red whose payments fail where the store has not taken the newest session, and until when those of this replica go on', () => {
    const text = 'the store has not taken the newest session';
    const alone = { ...blocked(33_000), condition: 'unshared' as const, cause: { text, runbook: 'store-down' } };
    const said = headlineOf({ store: silent, replica, merchants: [alone] }, { ...well, unshared: 1 }, 0);
    expect(said.text).toBe(`Payments of shop-33000 by other replicas very likely fail: ${text}`);
    expect(said.ending).toBe('; the session of shop-33000 ends in 33 s');
    expect(said.detail).toMatch(/^The store \(Redis\) does not answer: ECONNREFUSED\. Tell those who run Redis\./);
    expect([said.condition, said.runbook, said.also]).toEqual(['unshared', 'store-down', undefined]);
  });

  it('says of what others end until when a report changes nothing, and of a budget that is spent too when a call is free', () => {
    const others = 'somebody else creates sessions of the merchant, and each ends ours';
    const over = 'a session that is reported dead is not replaced before 18:12:00 UTC';
    const spent = 'all 5 create calls of 10 min are spent; the next one is free at 18:14:00 UTC';
    const duel = (inHeadline: string) => ({
      ...blocked(33_000),
      condition: 'foreign_authorizer' as const,
      renewalBlocked: false,
      cause: { text: `${others}; ${inHeadline}`, inHeadline, runbook: 'foreign-authorizer' },
      reportedBy: ['checkout'],
    });
    const said = (...texts: readonly string[]) =>
      headlineOf({ store, replica, merchants: texts.map(duel) }, { ...well, foreign_authorizer: texts.length }, 0);
    const fail = 'fail: somebody else creates sessions with the bank, and each of them ends ours';
    const text = `Payments of shop-33000 ${fail}`;
    expect(said('')).toMatchObject({ text, detail: '' });
    expect(said(over)).toMatchObject({ text, detail: `A${over.slice(1)}.` });
    expect(said(`${spent}; ${over}`)).toMatchObject({ text, detail: `A${spent.slice(1)}; ${over}.` });
    expect(said(over, '')).toMatchObject({ text: `Payments of 2 merchants ${fail}`, detail: `shop-33000: ${over}.` });
  });

  it('says in amber of a new session since somebody else created until when payments failed, and until when it is watched', () => {
    const until = 'until 03:12:05 UTC: somebody else created sessions, and may again';
    const rest = 'the new session since then has not been reported dead; watched until 04:10:00 UTC';
    const inHeadline = `${until}; ${rest}`;
    const cause = { text: `payments failed ${inHeadline}`, inHeadline, runbook: 'foreign-authorizer' };
    const watched = { ...blocked(900_000), condition: 'watched' as const, renewalBlocked: false, cause };
    const told = (merchants: readonly StatusMerchant[], counts: Partial<StatusCounts>, state: object = {}): object =>
      headlineOf({ store, replica, merchants, ...state }, { ...well, ...counts }, 0);
    expect(told([watched], { watched: 1, fresh: 2 })).toEqual({
      condition: 'watched',
      text: `Payments of shop-900000 failed ${until}`,
      ending: '',
      because: '',
      detail: `T${rest.slice(1)}. Others: 2 fresh`,
      runbook: 'foreign-authorizer',
      also: undefined,
    });
    const later = { ...watched, cause: { ...cause, inHeadline: 'until 03:30:00 UTC: others' } };
    expect(told([watched, later], { watched: 2 })).toMatchObject({
      text: `Payments of 2 merchants failed; shop-900000: ${until}`,
      detail: `shop-900000: ${rest}.`,
    });
    expect(told([watched], { watched: 1, reported_dead: 1 })).toHaveProperty('condition', 'reported_dead');
    expect(told([{ ...watched, retryAt: 900_000 }], { watched: 1 })).toMatchObject({
      condition: 'unavailable',
      text: `Renew shop-900000 by hand: its session ends before the next attempt: ${cause.text}`,
    });
    const held = { ...watched, renewalBlocked: true };
    expect(told([held, blocked(20_000)], { watched: 1, fresh: 1 }, { store: silent })).toMatchObject({
      condition: 'watched',
      text: 'Nothing is renewed: the store (Redis) does not answer',
      ending: '; the session of shop-20000 ends in 20 s',
      runbook: 'store-down',
      also: 'foreign-authorizer',
    });
  });

  it('gives no all-clear after a duel that has gone quiet', () => {
    const quiet = { ...blocked(900_000), condition: 'fresh' as const, renewalBlocked: false, quietSince: 20_000 };
    expect(headlineOf({ store, replica, merchants: [quiet] }, { ...well, fresh: 1 }, 200_000)).toEqual({
      condition: 'failing',
      text: 'Somebody else may still create sessions of shop-900000; no consumer has reported a dead one to this replica',
      ending: ' for 3 min 0 s',
      because: '',
      detail: '',
      runbook: 'foreign-authorizer',
      also: undefined,
    });
    const merchants = [quiet, { ...quiet, quietSince: 140_000 }];
    expect(headlineOf({ store, replica, merchants }, { ...well, fresh: 5 }, 200_000)).toMatchObject({
      text: 'Somebody else may still create sessions of 2 merchants; no consumer has reported a dead one to this replica',
      ending: ' for 1 min 0 s',
    });
    expect(headlineOf({ store, replica, merchants }, { ...well, failing: 1, fresh: 5 }, 200_000).text).toMatch(
      /^1 merchant gets no new session/,
    );
  });

  it('says in red that no attempt comes before a session ends, and what to type', () => {
    const cause = { text: unheard, runbook: 'renewals-failing' };
    const late = { ...blocked(404_000), renewalBlocked: false, retryAt: 3_217_000, cause };
    const inTime = { ...late, ...blocked(900_000), renewalBlocked: false, retryAt: 899_000 };
    const said = (merchants: StatusMerchant[], counts: Partial<StatusCounts>): object =>
      headlineOf({ store, replica, merchants }, { ...well, ...counts }, 0);
    expect(said([late], { failing: 1 })).toEqual({
      condition: 'unavailable',
      text: `Renew shop-404000 by hand: its session ends before the next attempt: ${unheard}`,
      ending: '; it ends in 6 min 44 s',
      because: '',
      detail: 'session-broker renew --merchant shop-404000',
      runbook: 'renewals-failing',
      also: undefined,
    });
    expect(said([{ ...late, condition: 'stale' }], { stale: 1 })).toMatchObject({
      condition: 'unavailable',
      text: `Renew shop-404000 by hand: its session ends before the next attempt: ${unheard}`,
    });
    const later = { ...late, ...blocked(500_000), renewalBlocked: false };
    expect(said([later, late, inTime], { failing: 3 })).toMatchObject({
      text: `Renew 2 merchants by hand: their sessions end before the next attempt; shop-404000: ${unheard}`,
      ending: '; its session ends in 6 min 44 s',
    });
    for (const merchant of [inTime, { ...late, renewing: true }, { ...late, renewalBlocked: true }]) {
      expect(said([merchant], { failing: 1 })).toMatchObject({ condition: 'failing' });
    }
  });

  it.each<[string, Partial<StatusMerchant>]>([
    ['refused', { failure: { at: 0, kind: 'refused', code: 'b_merchant_not_found' } }],
    ['revoked', { failure: { at: 0, kind: 'revoked' } }],
    ['sealed to another key', { failure: { at: 0, kind: 'invalid_response' }, ownKey: 'i080_96Yv1yZ2r' }],
    ['a key that this replica lacks', { keys: 'lacking' }],
  ])('sends nobody to renew by hand before that is mended which only a person can mend: %s', (_what, facts) => {
    const cause = { text: refused, runbook: 'access-refused' };
    const late = (expiresAt: number): StatusMerchant => ({
      ...blocked(expiresAt),
      ...{ renewalBlocked: false, retryAt: 3_217_000, cause },
      ...facts,
    });
    const said = (merchants: StatusMerchant[]): object =>
      headlineOf({ store, replica, merchants }, { ...well, failing: merchants.length }, 0);
    expect(said([late(116_000)])).toEqual({
      condition: 'unavailable',
      text: 'Payments of shop-116000 stop',
      ending: ' in 1 min 56 s',
      because: `: ${refused}`,
      detail: 'Fix that first (runbook); then renew by hand, since the next attempt comes after the session has ended.',
      runbook: 'access-refused',
      also: undefined,
    });
    expect(said([late(404_000), late(116_000)])).toMatchObject({
      text: 'Payments of 2 merchants stop, those of shop-116000 first,',
      ending: ' in 1 min 56 s',
      because: `: ${refused}`,
    });
    const passing = { ...late(200_000), ownKey: undefined, keys: undefined, failure: { at: 0, kind: 'transient' } };
    expect(said([late(116_000), passing as unknown as StatusMerchant])).toMatchObject({
      text: 'Payments of shop-116000 stop',
    });
  });

  it.each<[string, Partial<StatusMerchant>, string]>([
    ['the gateway says so', { reportedBy: ['checkout'], reportedAs: ['b_previous_auth_token_expired'] }, 'fail'],
    ['an answer that nobody can open has ended it', { ownKey: 'i080_96Yv1yZ2r' }, 'fail'],
    ['another replica with another key has ended it', { keys: 'differing' }, 'fail'],
    ['a consumer alone says so', { reportedBy: ['checkout'], reportedAs: ['http_401'] }, 'may fail'],
  ])('says of a session that is reported dead whether that is certain: %s', (_what, facts, word) => {
    const dead = { ...blocked(90_000), renewalBlocked: false, condition: 'reported_dead', ...facts } as const;
    const said = (merchants: StatusMerchant[], counts: Partial<StatusCounts>): object =>
      headlineOf({ store, replica, merchants }, { ...well, ...counts }, 0);
    expect(said([dead], { reported_dead: 1 })).toMatchObject({ text: `Payments of shop-90000 ${word}` });
    const alone = { ...dead, reportedAs: [], ownKey: undefined, keys: undefined } as unknown as StatusMerchant;
    expect(said([dead, alone], { reported_dead: 2 })).toMatchObject({ text: 'Payments of 2 merchants may fail' });
    expect(
      said([{ ...dead, ...blocked(90_000), condition: 'stale' }, dead], { stale: 1, reported_dead: 1 }),
    ).toMatchObject({
      condition: 'reported_dead',
      text: `Payments of shop-90000 ${word}`,
      detail: 'Others: 1 past the margin',
    });
  });

  it('names the merchant and what it has left where there is only one, as its row does', () => {
    const merchants = [
      { ...blocked(119_000), renewalBlocked: false, cause: { text: unheard, runbook: 'renewals-failing' } },
    ];
    expect(headlineOf({ store, replica, merchants }, { ...well, failing: 1 }, 0)).toMatchObject({
      text: `shop-119000 gets no new session: ${unheard}`,
      ending: '; its session is good for another 1 min 59 s',
    });
  });

  it('says since when it is so, and until when payments go on, of one merchant and of several', () => {
    const cause = { text: unheard, runbook: 'renewals-failing' };
    const failing = (expiresAt: number): StatusMerchant => {
      const session = { generation: 1, createdAt: 0, renewAt: 60_000, mustRenewAt: expiresAt - 1_000, expiresAt };
      return { ...blocked(expiresAt), renewalBlocked: false, session, cause };
    };
    const said = (merchants: StatusMerchant[], counts: Partial<StatusCounts>, now: number): object =>
      headlineOf({ store, replica, merchants }, { ...well, ...counts }, now);
    const since = '00:01:00 UTC';
    expect(said([failing(119_000)], { failing: 1 }, 70_000)).toMatchObject({
      text: `shop-119000 gets no new session: ${unheard}`,
      ending: '; its session is good for another 49 s',
      detail: `Until then payments go on. Due since ${since}.`,
    });
    expect(said([failing(119_000)], { failing: 1 }, 50_000)).toMatchObject({ detail: 'Until then payments go on.' });
    expect(said([failing(140_000), failing(119_000)], { failing: 2 }, 70_000)).toMatchObject({
      text: `2 merchants get no new session: ${unheard}`,
      ending: '; the session of shop-119000 ends first, in 49 s',
      detail: `${goOn} Due since ${since}.`,
    });
    expect(said([failing(119_000)], { failing: 2 }, 70_000)).toMatchObject({ ending: '', detail: goOn });
    expect(said([failing(119_000)], { stale: 1 }, 118_500)).toMatchObject({
      condition: 'stale',
      text: `shop-119000 gets no new session: ${unheard}`,
      ending: '; its session is good for another 0 s',
    });
    expect(said([failing(119_000)], { unavailable: 1 }, 150_000)).toMatchObject({
      text: `shop-119000 has no session with the bank, and its payments fail: ${unheard}`,
      ending: '',
      detail: 'Since 00:01:59 UTC.',
    });
  });

  it('does not say beside payments that fail that they go on, or how long the dead session lasts', () => {
    const refuses = { type: 'redis', condition: 'refuses', reason: 'NOPERM' } as const;
    for (const condition of ['foreign_authorizer', 'reported_dead'] as const) {
      const merchants = [{ ...blocked(333_000), condition }];
      expect(headlineOf({ store: refuses, replica, merchants }, { ...well, [condition]: 1 }, 0)).toMatchObject({
        ending: '',
        detail:
          'The store (Redis) refuses to work: NOPERM. Tell those who run Redis. Renewals go on by themselves as soon as the store works again; a session reported dead may wait for the next report, or for session-broker renew.',
      });
    }
  });

  it('says of a store since when it is away', () => {
    const state = { store: { ...silent, since: 60_000 }, replica, merchants: [blocked(333_000)] };
    expect(headlineOf(state, { ...well, fresh: 1 }, 70_000).detail).toMatch(
      /^Reason: ECONNREFUSED; not working since 00:01:00 UTC\. /,
    );
  });

  it('is not calm while the store is down or the replica stops, and never hides what is worse', () => {
    const down = { store: silent };
    expect(headline({ fresh: 2 }, down)).toEqual([
      'failing',
      'The store (Redis) does not answer; all 2 sessions are good',
      'Reason: ECONNREFUSED. Sessions are served from memory. Tell those who run Redis.',
    ]);
    expect(headline({ failing: 2 }, down)).toEqual([
      'failing',
      '2 merchants get no new session',
      'The store (Redis) does not answer: ECONNREFUSED. Sessions are served from memory. Tell those who run Redis.',
    ]);
    expect(headline({ unavailable: 1, fresh: 1 }, down)[0]).toBe('unavailable');
    const refusing = { store: { type: 'redis', condition: 'refuses', reason: 'NOPERM' } };
    expect(headline({ fresh: 2 }, { ...refusing, merchants: [blocked(90_000), blocked(33_000)] })).toEqual([
      'failing',
      'Nothing is renewed: the store (Redis) refuses to work',
      `Reason: NOPERM.${GO_ON} Tell those who run Redis.${AGAIN}`,
    ]);
    const full = { ...refusing.store, reason: 'OOM', refusal: { is: 'has no memory left', remedy: 'Free memory' } };
    expect(headline({ fresh: 2 }, { store: full, merchants: [blocked(90_000), blocked(33_000)] })).toEqual([
      'failing',
      'Nothing is renewed: the store (Redis) has no memory left',
      `Reason: OOM.${GO_ON} Free memory.${AGAIN}`,
    ]);
    expect(headline({ fresh: 2 }, { store: full })[2]).toBe(
      'Reason: OOM. Sessions are served from memory. Free memory.',
    );
    const stopping = { replica: { ...replica, shuttingDown: true } };
    const said = ['failing', 'All 2 sessions are good', 'This replica is shutting down.'];
    expect(headline({ fresh: 2 }, stopping)).toEqual(said);
  });
});
