import { unavailableReasons } from '#libs/errors';
import { aRecordedFailure } from '#libs/testing';
import { explain, type ExplainedFacts } from './explanation.js';

const failure = aRecordedFailure({ kind: 'refused', msgCode: 'b_merchant_not_found' });
const refused = { text: 'the bank refuses: b_merchant_not_found', runbook: 'access-refused' };
const facts = (change: Partial<ExplainedFacts>): ExplainedFacts => ({
  result: 'unavailable',
  failure: undefined,
  isForeign: false,
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

  it.each(Object.keys(unavailableReasons) as (keyof typeof unavailableReasons)[])(
    'is a part of a sentence and names a runbook: %s',
    (reason) => {
      const cause = explain(facts({ why: () => reason }));
      expect(cause?.text).toMatch(/^[a-z]/);
      expect(cause?.runbook).toBe(unavailableReasons[reason].runbook);
    },
  );
});
