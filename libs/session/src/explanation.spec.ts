import { instantFromEpochMs, plusMs } from '#libs/clock';
import { unavailableReasons } from '#libs/errors';
import { aRecordedFailure } from '#libs/testing';
import { explain, type ExplainedFacts } from './explanation.js';

const failure = aRecordedFailure({ kind: 'refused', msgCode: 'b_merchant_not_found' });
const refused = { text: 'the bank refuses: b_merchant_not_found', runbook: 'access-refused' };
const facts = (change: Partial<ExplainedFacts>): ExplainedFacts => ({
  result: 'unavailable',
  failure: undefined,
  isForeign: false,
  reported: undefined,
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

  it('is that somebody else ends its sessions, rather than that a renewal failed', () => {
    expect(explain(facts({ result: 'fresh', failure, isForeign: true }))?.runbook).toBe('foreign-authorizer');
  });

  it('is what keeps anybody from calling, where that is why', () => {
    expect(explain(facts({ failure, why: () => 'store_silent' }))).toEqual({
      text: 'the store does not answer, so that no replica may create a session under a lease',
      runbook: 'store-down',
    });
  });

  it('is of a session that was reported dead until when the share of the budget is spent, with the day if it is another', () => {
    const { now } = facts({});
    const after = (ms: number): string | undefined =>
      explain(facts({ result: 'fresh', reported: { generation: 1, shareSpentUntil: plusMs(now, ms) } }))?.text;
    const spent =
      'consumers report the session dead, and it cannot be replaced: the share of the budget for that is spent';
    expect(after(57 * 60_000)).toBe(`${spent} until 18:57 UTC`);
    expect(after(57 * 60_000 + 1)).toBe(`${spent} until 18:58 UTC`);
    expect(after(7 * 3_600_000)).toBe(`${spent} until 2026-11-23 01:00 UTC`);
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
