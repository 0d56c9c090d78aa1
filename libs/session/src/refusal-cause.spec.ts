import { instantFromEpochMs, plusMs } from '#libs/clock';
import { aRecordedFailure, aSession } from '#libs/testing';
import type { ExplainedFacts } from './explanation.js';
import { explainRefusal, type RefusedWish } from './refusal-cause.js';

const MINUTE = 60_000;
const now = instantFromEpochMs(Date.parse('2026-11-22T18:00:00Z'));
const failure = aRecordedFailure({
  kind: 'refused',
  msgCode: 'b_merchant_not_found',
  at: plusMs(now, -3 * MINUTE + 400),
});
const refused = 'the bank refuses: b_merchant_not_found';
const spent = { freeAt: plusMs(now, 14 * MINUTE), window: { calls: 5, perMs: 10 * MINUTE } };
const all = 'all 5 create calls of 10 min are spent; the next one is free at 18:14:00 UTC';
const unmade = `no call was made: ${all}, and this replica asks again then`;
const others = 'somebody else ends the sessions of shop (runbook: foreign-authorizer)';
const facts = (change: Partial<ExplainedFacts>): ExplainedFacts => ({
  result: 'fresh',
  session: aSession(),
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
  now,
  why: () => 'not_replaced',
  ...change,
});
const because = (change: Partial<ExplainedFacts>, wish: Partial<RefusedWish> = {}) =>
  explainRefusal({ merchant: 'shop', refusedBy: 'failed', isJoined: false, store: undefined, ...wish }, facts(change));

describe('why a person gets no newer session', () => {
  it('is what ended the call that was made, with a budget that is spent by it', () => {
    expect(because({ failure })?.text).toBe(refused);
    expect(because({ spent })?.text).toBe(all);
    expect(because({ spent, failure })).toEqual({ text: `${refused}; ${all}`, runbook: 'access-refused' });
  });

  it('is the answer of an attempt that was under way before the wish, where there is one', () => {
    const isJoined = true;
    const joined = 'an attempt was under way already, and this is its answer';
    expect(because({ failure }, { isJoined })).toEqual({ text: `${joined}: ${refused}`, runbook: 'access-refused' });
    expect(because({ failure, isForeign: true }, { isJoined })?.text).toBe(`${joined}: ${refused}; ${others}`);
    expect(because({}, { isJoined })).toBeUndefined();
  });

  it('is that no call was made where none was left, and then when the last one ended, and how', () => {
    const refusedBy = 'budget_exhausted' as const;
    expect(because({ spent }, { refusedBy })).toEqual({
      text: unmade,
      runbook: 'budget-exhausted',
    });
    expect(because({ spent, failure }, { refusedBy })).toEqual({
      text: `${unmade}; the last attempt (17:57:00 UTC) ended with: ${refused}`,
      runbook: 'access-refused',
    });
  });

  it.each([
    ['silent', 'the store does not answer, so that no session can be created'],
    ['refuses', 'the store refuses what it is asked, so that no session can be created'],
  ] as const)('is the store that is %s, whatever else there is to say of the merchant', (store, text) => {
    const wish = { refusedBy: 'store_down', store } as const;
    expect(because({ spent, failure }, wish)).toEqual({ text, runbook: 'store-down' });
    expect(because({}, { ...wish, refusedBy: 'failed' })).toBeUndefined();
  });

  it('names who else ends the sessions behind each of them', () => {
    const isForeign = true;
    expect(because({ isForeign })?.text).toBe(others);
    expect(because({ failure, isForeign })?.text).toBe(`${refused}; ${others}`);
    const watchedUntil = instantFromEpochMs(1);
    expect(because({ isForeign, watchedUntil })?.text).toBe(
      'somebody else created sessions of shop, and may again (runbook: foreign-authorizer)',
    );
    expect(because({ spent, isForeign }, { refusedBy: 'budget_exhausted' })).toEqual({
      text: `${unmade}; ${others}`,
      runbook: 'foreign-authorizer',
    });
  });
});
