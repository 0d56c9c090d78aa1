import { instantFromEpochMs, plusMs } from '#libs/clock';
import { unavailableReasons } from '#libs/errors';
import { aRecordedFailure, aSession } from '#libs/testing';
import type { SpentBudget } from './budget-cause.js';
import { explain, type ExplainedFacts } from './explanation.js';

const MINUTE = 60_000;
const failure = aRecordedFailure({ kind: 'refused', msgCode: 'b_merchant_not_found' });
const refused = { text: 'the bank refuses: b_merchant_not_found', runbook: 'access-refused' };
const facts = (change: Partial<ExplainedFacts>): ExplainedFacts => ({
  result: 'unavailable',
  session: undefined,
  failure: undefined,
  isForeign: false,
  isLikelyDead: false,
  unopened: undefined,
  isUnshared: false,
  strayKey: undefined,
  reported: undefined,
  isReportedElsewhere: false,
  spent: undefined,
  isHeldBack: false,
  watchedUntil: undefined,
  createdUntil: undefined,
  now: instantFromEpochMs(Date.parse('2026-11-22T18:00:00Z')),
  why: () => 'refused',
  ...change,
});

describe('what is the matter with a merchant', () => {
  it('is nothing while it is well', () => {
    expect(explain(facts({ result: 'fresh' }))).toBeUndefined();
  });

  it('is what ended the last call, whether its session is good, past its margin or gone', () => {
    for (const result of ['fresh', 'stale', 'unavailable'] as const) {
      expect(explain(facts({ result, failure }))).toEqual(refused);
    }
  });

  it('is that no attempt has ended, and no rejection, where the session is past its margin and nobody has rejected it', () => {
    const why = (): 'not_replaced' => 'not_replaced';
    expect(explain(facts({ result: 'stale', why }))).toEqual({
      text: 'its renewal is due, and no attempt has ended yet',
      runbook: 'session-expiring',
    });
    expect(explain(facts({ result: 'stale', why, reported: { generation: 1 } }))?.runbook).toBe('rejection-storm');
  });

  it('has, of one that is reported dead or gone, that somebody else created its sessions and may again', () => {
    const createdUntil = instantFromEpochMs(Date.parse('2026-11-22T17:48:11Z'));
    const others = 'somebody else created sessions until 17:48:11 UTC, and may again';
    const change: Partial<ExplainedFacts> = { createdUntil, why: () => 'store_silent' };
    const dead = explain(facts({ ...change, result: 'fresh', reported: { generation: 7 } }));
    const gone = explain(facts(change));
    for (const cause of [dead, gone]) {
      expect(cause?.text).toMatch(new RegExp(`the store.*; ${others} \\(runbook: foreign-authorizer\\)$`));
      expect(cause?.inHeadline).toMatch(new RegExp(`; ${others}$`));
      expect(cause?.runbook).toBe('store-down');
    }
    expect(explain(facts({ createdUntil, result: 'fresh' }))).toBeUndefined();
    expect(explain(facts({ createdUntil, result: 'fresh', failure }))).toEqual(refused);
    const session = aSession({ createdAt: createdUntil });
    const watchedUntil = plusMs(createdUntil, 30 * MINUTE);
    const watched = facts({ session, isForeign: true, watchedUntil, why: () => 'store_silent' });
    expect(explain(watched)?.inHeadline).toMatch(new RegExp(`; ${others}$`));
    const duel = explain({ ...watched, watchedUntil: undefined });
    expect(duel?.inHeadline).toMatch(/; somebody else creates sessions of the merchant, and each ends ours$/);
  });

  it('is that another replica asked with a key that is not our newest, where that is why the answer does not open', () => {
    const trace = { thumbprint: `Kylkplo7${'k'.repeat(35)}`, lostSession: true } as const;
    const sealed = { ...aRecordedFailure({ kind: 'invalid_response' }), trace };
    const text =
      'the bank was asked with another key (Kylkplo7…) than the newest of this replica (9e07re6s…), and the answer did not open: give every replica the same key files (clientKeyFiles)';
    const theirs = { ...sealed, newestKey: `9e07re6s${'e'.repeat(35)}` };
    expect(explain(facts({ failure: theirs, why: () => 'invalid_response' }))).toEqual({
      text,
      runbook: 'unopenable-records',
    });
    expect(explain(facts({ result: 'fresh', isLikelyDead: true, failure: theirs }))).toEqual({
      text: `the bank has made a session that we cannot use, and it ends ours; ${text}`,
      runbook: 'unopenable-records',
    });
    for (const newestKey of [trace.thumbprint, undefined]) {
      const ours = { ...sealed, ...(newestKey === undefined ? {} : { newestKey }) };
      expect(explain(facts({ result: 'fresh', failure: ours }))).toEqual({
        text: 'the answer is sealed to another key than ours, or damaged',
        runbook: 'access-refused',
      });
    }
  });

  it('is that somebody else ends its sessions, rather than that a renewal failed', () => {
    for (const result of ['fresh', 'stale'] as const) {
      expect(explain(facts({ result, failure, isForeign: true }))?.runbook).toBe('foreign-authorizer');
    }
  });

  it('is first of all a newer session that opens with none of the keys of this replica, while an older one is served', () => {
    const text =
      'a newer session (generation 13) opens with none of the keys that this replica has: give it the key file of the others (clientKeyFiles), or stop it before its next attempt, which ends that session';
    const behind = { unopened: 13, isLikelyDead: true };
    for (const result of ['fresh', 'stale'] as const) {
      const cause = explain(facts({ ...behind, result, failure, why: () => 'refused' }));
      expect(cause).toEqual({ text: `${text}; ${refused.text}`, runbook: 'unopenable-records' });
    }
    expect(explain(facts({ ...behind, result: 'fresh' }))).toEqual({ text, runbook: 'unopenable-records' });
    expect(explain(facts({ ...behind, failure }))).toEqual(refused);
    for (const why of ['no_session', 'expired', 'renewing'] as const) {
      expect(explain(facts({ ...behind, why: () => why }))).toEqual({ text, runbook: 'unopenable-records' });
    }
    // If a newer session does not end the one before, it harms nobody.
    expect(explain(facts({ ...behind, result: 'fresh', isLikelyDead: false }))?.text).toMatch(/\(clientKeyFiles\)$/);
    const createdUntil = instantFromEpochMs(Date.parse('2026-11-22T17:48:11Z'));
    const besideOthers = explain(facts({ ...behind, createdUntil, why: () => 'no_session' }));
    const others = 'somebody else created sessions until 17:48:11 UTC, and may again (runbook: foreign-authorizer)';
    expect(besideOthers).toMatchObject({ text: `${text}; ${others}`, runbook: 'unopenable-records' });
    const sealed = { ...failure, trace: { thumbprint: 'ours' } };
    expect(explain(facts({ ...behind, failure: sealed }))).toMatchObject({ runbook: 'unopenable-records' });
    expect(explain(facts({ ...behind, why: () => 'store_silent' }))?.runbook).toBe('store-down');
  });

  it('is what keeps anybody from calling, where that is why', () => {
    expect(explain(facts({ failure, why: () => 'store_silent' }))).toEqual({
      text: 'the store does not answer, so that no session can be created',
      runbook: 'store-down',
    });
  });

  it('is the store where a renewal that is due has to wait for it', () => {
    const due = facts({ result: 'fresh', isHeldBack: true, why: () => 'store_silent' });
    expect(explain(due)?.runbook).toBe('store-down');
    expect(explain({ ...due, isHeldBack: false })).toBeUndefined();
  });

  it('is of a session that was reported dead before when it is not replaced, with the day if it is another', () => {
    const { now } = facts({});
    const after = (ms: number, change: Partial<ExplainedFacts> = {}): string | undefined =>
      explain(facts({ result: 'fresh', reported: { generation: 1, shareSpentUntil: plusMs(now, ms) }, ...change }))
        ?.text;
    const before = (moment: string): string =>
      `consumers report the session dead, and it is not replaced before ${moment}: the share of the budget for that is spent`;
    expect(after(57 * MINUTE)).toBe(before('18:57:00 UTC'));
    expect(after(57 * MINUTE + 1)).toBe(before('18:57:01 UTC'));
    expect(after(7 * 60 * MINUTE)).toBe(before('2026-11-23 01:00:00 UTC'));
    const session = aSession({ renewAt: plusMs(now, 9 * MINUTE) });
    expect(after(14 * MINUTE, { session })).toBe(
      before('the scheduled renewal at 18:09:00 UTC, and only if a call is free then'),
    );
    expect(after(7 * MINUTE, { session })).toBe(before('18:07:00 UTC'));
  });

  it('is where another replica alone was told of a dead session that its page says by whom, also in the headline', () => {
    const there = 'reported to another replica; its page says by whom';
    const told = (change: Partial<ExplainedFacts>): ReturnType<typeof explain> =>
      explain(facts({ isReportedElsewhere: true, reported: { generation: 1 }, why: () => 'not_replaced', ...change }));
    expect(told({ result: 'fresh' })).toEqual({
      text: `consumers report the session dead, and it has not been replaced yet; ${there}`,
      runbook: 'rejection-storm',
    });
    expect(told({ result: 'stale', isForeign: true })).toEqual({
      text: `somebody else creates sessions of the merchant, and each ends ours; ${there}`,
      inHeadline: there,
      runbook: 'foreign-authorizer',
    });
    expect(told({ result: 'unavailable' })?.text).not.toContain(there);
  });

  it('is of a session that was reported dead that all calls are spent, where the schedule has none left either', () => {
    const { now } = facts({});
    const reported = { generation: 1, shareSpentUntil: plusMs(now, 20 * MINUTE) };
    const text = (spent: SpentBudget): string | undefined => explain(facts({ result: 'fresh', reported, spent }))?.text;
    const freeAt = plusMs(now, 14 * MINUTE);
    const next = 'spent; the next one is free at 18:14:00 UTC';
    const cannot = 'consumers report the session dead, and it cannot be replaced';
    expect(text({ freeAt, window: { calls: 5, perMs: 10 * MINUTE } })).toBe(
      `${cannot}: all 5 create calls of 10 min are ${next}`,
    );
    expect(text({ freeAt, window: { calls: 1, perMs: 60 * MINUTE } })).toBe(
      `${cannot}: the one create call of 1 h is ${next}`,
    );
    expect(text({ freeAt, window: { calls: 9, perMs: 90_000 } })).toBe(
      `${cannot}: all 9 create calls of 90 s are ${next}`,
    );
    expect(text({ freeAt })).toBe(`${cannot}: all create calls of the budget are ${next}`);
  });

  it('is of a renewal that is due until when the budget is spent, and how long its session is good for', () => {
    const { now } = facts({});
    const spent = { freeAt: plusMs(now, 14 * MINUTE) };
    const session = aSession({ expiresAt: plusMs(now, 8_400) });
    const due = { session, spent, why: () => 'budget_exhausted' as const };
    const told = 'all create calls of the budget are spent; the next one is free at 18:14:00 UTC';
    const fail = 'payments fail from the end of its session until a call is free';
    const held = {
      text: `${told}; its session is good for another 8 s; ${fail}`,
      runbook: 'budget-exhausted',
      inHeadline: `${told}; ${fail}`,
    };
    const inTime = aSession({ expiresAt: spent.freeAt });
    expect(explain(facts({ ...due, session: inTime, result: 'fresh', isHeldBack: true }))?.inHeadline).toBe(told);
    expect(explain(facts({ ...due, result: 'fresh', isHeldBack: true }))).toEqual(held);
    expect(explain(facts({ ...due, result: 'stale' }))).toEqual(held);
    expect(explain(facts({ ...due, result: 'fresh' }))).toBeUndefined();
    expect(explain(facts(due))).toEqual({ text: `${told}`, runbook: 'budget-exhausted' });
  });

  it('is first what ended the last call, where such calls have spent the budget', () => {
    const { now } = facts({});
    const spent = { freeAt: plusMs(now, 14 * MINUTE) };
    const told = 'all create calls of the budget are spent; the next one is free at 18:14:00 UTC';
    const session = aSession({ expiresAt: plusMs(now, 8_400) });
    const due = { failure, spent, why: () => 'budget_exhausted' as const };
    const { runbook } = refused;
    const fail = 'payments fail from the end of its session until a call is free';
    expect(explain(facts(due))).toEqual({ text: `${refused.text}; ${told}`, runbook });
    expect(explain(facts({ ...due, session, result: 'fresh', isHeldBack: true }))).toEqual({
      text: `${refused.text}; ${told}; its session is good for another 8 s; ${fail}`,
      runbook,
      inHeadline: `${refused.text}; ${told}; ${fail}`,
    });
    expect(explain(facts({ ...due, result: 'fresh', reported: { generation: 1 } }))).toEqual({
      text: `consumers report the session dead, and it cannot be replaced: ${refused.text}; all create calls of the budget are spent; the next one is free at 18:14:00 UTC`,
      runbook,
    });
    expect(explain(facts({ ...due, isForeign: true }))?.runbook).toBe('foreign-authorizer');
  });

  it('names a moment to the second, and never too early', () => {
    const { now } = facts({});
    const text = (ms: number): string | undefined =>
      explain(facts({ spent: { freeAt: plusMs(now, ms) }, why: () => 'budget_exhausted' }))?.text;
    expect(text(119_001)).toContain('; the next one is free at 18:02:00 UTC');
    expect(text(3_600_000)).toContain('; the next one is free at 19:00:00 UTC');
    expect(text(3_600_001)).toContain('; the next one is free at 19:00:01 UTC');
  });

  it('is of a session that is reported dead as soon as it is there from when on such a report counts', () => {
    const { now } = facts({});
    const reported = { generation: 1, coolsDownUntil: plusMs(now, 8_000) };
    expect(explain(facts({ result: 'fresh', reported, why: () => 'not_replaced' }))).toEqual({
      text: 'consumers report the session dead, and it has not been replaced yet: it is new, and reports count from 18:00:08 UTC on',
      runbook: 'rejection-storm',
    });
  });

  it('is of sessions that somebody else ends until when a report gets no newer one, where that is known', () => {
    const { now } = facts({});
    const told = 'somebody else creates sessions of the merchant, and each ends ours';
    const text = (reported: ExplainedFacts['reported']): string | undefined =>
      explain(facts({ result: 'fresh', isForeign: true, reported }))?.text;
    expect(text(undefined)).toBe(told);
    expect(text({ generation: 1 })).toBe(told);
    expect(explain(facts({ result: 'fresh', isForeign: true }))?.inHeadline).toBe('');
    expect(text({ generation: 1, coolsDownUntil: plusMs(now, 9 * MINUTE) })).toBe(
      `${told}; a session that is reported dead is not replaced before 18:09:00 UTC: the broker pauses while somebody else creates`,
    );
  });

  it('is of sessions that somebody else ends when the next call is free, where none is left', () => {
    const { now } = facts({});
    const text = (change: Partial<ExplainedFacts>): string | undefined =>
      explain(facts({ result: 'fresh', isForeign: true, ...change }))?.text;
    const told = 'somebody else creates sessions of the merchant, and each ends ours';
    const spent = { freeAt: plusMs(now, 14 * MINUTE), window: { calls: 5, perMs: 10 * MINUTE } };
    const all = 'all 5 create calls of 10 min are spent; the next one is free at 18:14:00 UTC';
    const cooling = (ms: number) => ({ generation: 1, coolsDownUntil: plusMs(now, ms) });
    expect(text({ spent })).toBe(`${told}; ${all}`);
    expect(text({ spent, reported: cooling(9 * MINUTE) })).toBe(`${told}; ${all}`);
    expect(text({ spent, reported: cooling(20 * MINUTE) })).toBe(
      `${told}; ${all}; a session that is reported dead is not replaced before 18:20:00 UTC: the broker pauses while somebody else creates`,
    );
    const share = { generation: 1, shareSpentUntil: plusMs(now, 57 * MINUTE) };
    expect(text({ reported: share })).toBe(
      `${told}; a session that is reported dead is not replaced before 18:57:00 UTC: the share of the budget for that is spent`,
    );
    expect(text({ spent, reported: share })).toBe(`${told}; ${all}`);
  });

  it('leaves to a headline that names the condition what is not in its sentence, and nothing that counts down', () => {
    const { now } = facts({});
    const reported = { generation: 1, coolsDownUntil: plusMs(now, 9 * MINUTE) };
    expect(explain(facts({ result: 'fresh', isForeign: true, reported }))?.inHeadline).toMatch(
      /^a session that is reported dead is not replaced before 18:09:00 UTC/,
    );
    expect(explain(facts({ result: 'fresh', failure }))).not.toHaveProperty('inHeadline');
    const spent = { freeAt: plusMs(now, 14 * MINUTE) };
    const ended = explain(facts({ spent, isForeign: true, why: () => 'budget_exhausted' }));
    expect(ended?.text).toContain('somebody else creates sessions');
    expect(ended).not.toHaveProperty('inHeadline');
  });

  it('is of a merchant that has a new session since somebody else created until when payments failed, and until when it is watched', () => {
    const { now } = facts({});
    const session = aSession({ createdAt: plusMs(now, -MINUTE), expiresAt: plusMs(now, 8_400) });
    const watched = { result: 'fresh', isForeign: true, session, watchedUntil: plusMs(now, 12 * MINUTE) } as const;
    const others = 'until 17:59:00 UTC: somebody else created sessions, and may again';
    const since = 'the new session since then has not been reported dead; watched until 18:12:00 UTC';
    const told = (change: Partial<ExplainedFacts> = {}): unknown => explain(facts({ ...watched, ...change }));
    const saying = (more: string, inHeadline = more): object => ({
      text: `payments failed ${others}; ${since}${more}`,
      runbook: 'foreign-authorizer',
      inHeadline: `${others}; ${since}${inHeadline}`,
    });
    expect(told()).toEqual(saying(''));
    const renewed = aSession({ ...session, createdAt: plusMs(now, -1_000), watchedSince: session.createdAt });
    expect(told({ session: renewed })).toEqual(saying(''));
    expect(told({ result: 'stale' })).toEqual(saying(''));
    const spent = { freeAt: plusMs(now, 14 * MINUTE) };
    expect(told({ spent })).toEqual(saying(''));
    const until = '; all create calls of the budget are spent; the next one is free at 18:14:00 UTC';
    const fail = '; payments fail from the end of its session until a call is free';
    expect(told({ spent, isHeldBack: true })).toEqual(
      saying(`${until}; its session is good for another 8 s${fail}`, `${until}${fail}`),
    );
    expect(told({ failure })).toEqual(saying(`; its renewal fails: ${refused.text}`));
    const mayAgain = '; somebody else created sessions until 17:59:00 UTC, and may again';
    expect(told({ result: 'unavailable', failure })).toEqual({
      text: `${refused.text}${mayAgain} (runbook: foreign-authorizer)`,
      inHeadline: `${refused.text}${mayAgain}`,
      runbook: 'access-refused',
    });
  });

  it('is of a budget that is spent as well, where somebody else ends the sessions', () => {
    const { now } = facts({});
    const spent = { freeAt: plusMs(now, 14 * MINUTE) };
    const session = aSession({ expiresAt: plusMs(now, 8_400) });
    expect(explain(facts({ result: 'fresh', isForeign: true, spent, session, isHeldBack: true }))).toEqual({
      text: 'all create calls of the budget are spent; the next one is free at 18:14:00 UTC; its session is good for another 8 s; somebody else creates sessions of the merchant, and each ends ours',
      runbook: 'foreign-authorizer',
      inHeadline: 'all create calls of the budget are spent; the next one is free at 18:14:00 UTC',
    });
  });

  it('is that somebody else ends the sessions as well, with the runbook for that, where the budget is spent too', () => {
    const { now } = facts({});
    const spent = { freeAt: plusMs(now, 14 * MINUTE) };
    const due = { spent, isHeldBack: true, isForeign: true, why: () => 'budget_exhausted' as const };
    for (const result of ['fresh', 'stale', 'unavailable'] as const) {
      const cause = explain(facts({ ...due, result, session: aSession({ expiresAt: plusMs(now, 1_000) }) }));
      expect(cause?.text).toMatch(
        / are spent; the next one is free at 18:14:00 UTC.*; somebody else creates sessions of the merchant, and /,
      );
      expect(cause?.runbook).toBe('foreign-authorizer');
    }
  });

  it('is of a session that the bank has most likely ended by one that is of no use to us that first, and promises nothing of it', () => {
    const { now } = facts({});
    const lost = 'the bank has made a session that we cannot use, and it ends ours';
    const session = aSession({ expiresAt: plusMs(now, 20 * MINUTE) });
    const told = (change: Partial<ExplainedFacts>): unknown =>
      explain(facts({ result: 'fresh', session, failure, isLikelyDead: true, ...change }));
    for (const result of ['fresh', 'stale'] as const) {
      expect(told({ result })).toEqual({ text: `${lost}; ${refused.text}`, runbook: refused.runbook });
    }
    const spent = { freeAt: plusMs(now, 14 * MINUTE) };
    expect(told({ isHeldBack: true, spent })).toEqual({
      text: `${lost}; ${refused.text}; all create calls of the budget are spent; the next one is free at 18:14:00 UTC`,
      runbook: refused.runbook,
    });
    expect(told({ result: 'stale', spent, why: () => 'budget_exhausted' })).toHaveProperty(
      'text',
      `${lost}; ${refused.text}; all create calls of the budget are spent; the next one is free at 18:14:00 UTC`,
    );
    const before = { result: 'unavailable' as const };
    expect(told(before)).toEqual(refused);
    for (const known of [{ isForeign: true }, { reported: { generation: 1 } }]) {
      expect(told(known)).toHaveProperty('text', expect.not.stringContaining(lost));
    }
  });

  it('is of a session that the store has not taken that the others do not have it, before what keeps it from being renewed', () => {
    const alone = /^the store has not taken the newest session, which this replica alone has/;
    const told = (change: Partial<ExplainedFacts>): unknown =>
      explain(facts({ result: 'fresh', isUnshared: true, ...change }));
    expect(told({})).toEqual({ text: expect.stringMatching(alone), runbook: 'store-down' });
    expect(told({ isHeldBack: true, why: () => 'store_refuses' })).toEqual({
      text: expect.stringMatching(/ends those of the others; .*store/),
      runbook: 'store-down',
    });
    const known = [
      { isForeign: true },
      { reported: { generation: 1 } },
      { result: 'unavailable' as const },
      { isLikelyDead: true },
    ];
    for (const one of known) expect(JSON.stringify(told(one) ?? {})).not.toContain('this replica alone');
  });

  it('is of a session that was reported dead what keeps anybody from replacing it', () => {
    const reported = { generation: 1 };
    expect(explain(facts({ result: 'fresh', failure, reported }))).toEqual({
      text: `consumers report the session dead, and it is not replaced: ${refused.text}`,
      runbook: refused.runbook,
    });
    expect(explain(facts({ result: 'fresh', reported, why: () => 'not_replaced' }))).toEqual({
      text: 'consumers report the session dead, and it has not been replaced yet',
      runbook: 'rejection-storm',
    });
  });

  it.each(Object.keys(unavailableReasons) as (keyof typeof unavailableReasons)[])(
    'is a part of a sentence and names a runbook: %s',
    (reason) => {
      const cause = explain(facts({ why: () => reason }));
      expect(cause?.text).toMatch(/^[a-z]/);
      expect(cause?.runbook).toBe(unavailableReasons[reason].runbook);
    },
  );
});
