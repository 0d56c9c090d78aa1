import { plusMs } from '#libs/clock';
import type { UnavailableReason } from '#libs/errors';
import { aRecordedFailure, aSession } from '#libs/testing';
import {
  type Cause,
  causeOf,
  conditionOf,
  type MerchantCondition,
  type MerchantFacts,
  refusalOf,
  whyUnavailable,
} from './merchant-condition.js';
import type { RenewalResult } from './ports/session-store.js';

const session = aSession();
const freeAt = plusMs(session.createdAt, 60_000);
const spent = { freeAt, window: { calls: 5, perMs: 600_000 } };
const EXPIRED = { result: 'unavailable', reason: 'expired' } as const;
const MISSING = { result: 'unavailable', reason: 'no_session' } as const;
const STALE = { result: 'stale', reason: 'past_margin' } as const;
const thumbprint = 'giDq73_2bc-X1mJeOZdZGtHIgq17_7yBU6003q9kBQo';
const failure = aRecordedFailure({ kind: 'refused', msgCode: 'b_merchant_not_found' });
const lost = aRecordedFailure({ kind: 'invalid_response', trace: { thumbprint, lostSession: true } });

const well: MerchantFacts = {
  serving: { result: 'fresh', reason: 'current' },
  session,
  isDue: false,
  isRenewing: false,
  failure: undefined,
  unopened: undefined,
  supersedes: true,
  isReportedDead: false,
  isForeign: false,
  watchedUntil: undefined,
  spent: undefined,
  isBudgetSpent: false,
  store: undefined,
};
const everything: Partial<MerchantFacts> = {
  failure: lost,
  unopened: 13,
  isReportedDead: true,
  isForeign: true,
  isDue: true,
  spent,
  isBudgetSpent: true,
  store: 'store_refuses',
};

describe('the condition of a merchant', () => {
  it.each<[string, MerchantCondition, Partial<MerchantFacts>]>([
    ['has no session, whatever else there is', 'unavailable', { ...everything, serving: EXPIRED }],
    ['is ended by somebody else', 'foreign_authorizer', { ...everything, serving: STALE }],
    ['is reported dead', 'dead', { isReportedDead: true, failure, serving: STALE }],
    ['was ended by a session that is of no use', 'dead', { failure: lost }],
    ['was not, where sessions live side by side', 'failing', { failure: lost, supersedes: false }],
    ['was ended by a session that does not open', 'dead', { unopened: 13 }],
    ['has a newer one that does not open, beside it', 'failing', { unopened: 13, supersedes: false }],
    ['is past its margin', 'stale', { serving: STALE, failure }],
    ['has failed to renew', 'failing', { failure }],
    ['is due, and no call is left', 'failing', { isDue: true, spent }],
    ['is due, and the last call is under way', 'fresh', { isDue: true, isRenewing: true, spent }],
    ['ends before a call is free', 'failing', { spent: { freeAt: session.expiresAt } }],
    ['is not due, and has time until a call is free', 'fresh', { spent }],
    ['is due, and nothing is in the way', 'fresh', { isDue: true }],
    ['is due, and the store refuses', 'failing', { isDue: true, store: 'store_refuses' }],
    ['is due, and the store is silent', 'failing', { isDue: true, store: 'store_silent' }],
    ['is not due while the store is away', 'fresh', { store: 'store_silent' }],
    ['is being renewed', 'fresh', { isDue: true, isRenewing: true }],
  ])('%s: %s', (_what, condition, change) => {
    expect(conditionOf({ ...well, ...change })).toBe(condition);
  });
});

describe('the reason for which there is no session', () => {
  it.each<[UnavailableReason, Partial<MerchantFacts>]>([
    ['no_session', { serving: MISSING }],
    ['expired', {}],
    ['not_replaced', { serving: well.serving }],
    ['not_replaced', { serving: STALE }],
    ['renewing', { isRenewing: true }],
    ...(['transient', 'timeout', 'refused', 'revoked', 'invalid_response', 'key_unavailable'] as const).map(
      (kind): [UnavailableReason, Partial<MerchantFacts>] => [kind, { failure: aRecordedFailure({ kind }) }],
    ),
    ['store_silent', { store: 'store_silent', failure }],
    ['store_refuses', { store: 'store_refuses', failure }],
    ['budget_exhausted', { isBudgetSpent: true, store: 'store_refuses', failure }],
    ['refused', { failure, isRenewing: true }],
  ])('is %s', (reason, change) => {
    expect(whyUnavailable({ ...well, serving: EXPIRED, ...change })).toBe(reason);
  });
});

const watchedUntil = plusMs(session.createdAt, 3_600_000);
const refused = { code: 'refused', msgCode: 'b_merchant_not_found', at: failure.at };

describe('the cause of what is the matter', () => {
  it.each<[string, Partial<MerchantFacts>, object | undefined]>([
    ['nothing, while it is well', { store: 'store_silent' }, undefined],
    ['what ended the last call, while payments go on', { failure }, { ...refused, effect: 'not_renewed' }],
    ['the same, without a session', { failure, serving: EXPIRED }, { ...refused, effect: 'payments_fail' }],
    ['the failure before the budget that it spent', { failure, spent }, { ...refused, effect: 'not_renewed' }],
    [
      'the store before what failed',
      { failure, store: 'store_silent', isDue: true },
      { code: 'store_silent', effect: 'not_renewed' },
    ],
    ['the budget', { spent, isDue: true }, { code: 'budget_exhausted', spent, effect: 'not_renewed' }],
    [
      'the share for reports',
      { isReportedDead: true, isBudgetSpent: true },
      { code: 'budget_exhausted', effect: 'reported_dead' },
    ],
    ['a report', { isReportedDead: true }, { code: 'not_replaced', effect: 'reported_dead' }],
    ['a session that is of no use', { failure: lost }, { code: 'invalid_response', effect: 'payments_fail' }],
    ['a session that does not open', { unopened: 13 }, { code: 'unopened', generation: 13, effect: 'payments_fail' }],
    ['what else failed, without one', { unopened: 13, failure, serving: EXPIRED }, refused],
    ['somebody else', { isForeign: true, failure }, { code: 'foreign_authorizer', effect: 'payments_fail' }],
    [
      'somebody else, who spent the budget',
      { isForeign: true, isBudgetSpent: true, serving: EXPIRED },
      { code: 'foreign_authorizer' },
    ],
    ['what failed, not who created before', { isForeign: true, failure, serving: EXPIRED }, refused],
    [
      'somebody else, while nobody reports the newest',
      { isForeign: true, watchedUntil },
      { code: 'watched', failedUntil: session.createdAt, watchedUntil },
    ],
    [
      'somebody else, once it is reported',
      { isForeign: true, watchedUntil, isReportedDead: true },
      { code: 'foreign_authorizer' },
    ],
    ['an attempt under way', { isRenewing: true, serving: EXPIRED }, { code: 'renewing', effect: 'payments_fail' }],
    ['nothing tried yet, past the margin', { serving: STALE }, { code: 'not_tried', effect: 'not_renewed' }],
    ['no session ever', { serving: MISSING, session: undefined }, { code: 'no_session', effect: 'payments_fail' }],
    ['its end', { serving: EXPIRED }, { code: 'expired', effect: 'payments_fail' }],
  ])('is %s', (_what, change, expected) => {
    const cause = causeOf({ ...well, ...change });
    if (expected === undefined) expect(cause).toBeUndefined();
    else expect(cause).toMatchObject(expected);
  });
});

describe('why a person gets no newer session', () => {
  const because = (change: Partial<MerchantFacts>, refusedBy: RenewalResult['kind'] = 'failed'): Cause | undefined =>
    refusalOf(refusedBy, { ...well, ...change }).cause;

  it('is what ended the call that was made', () => {
    expect(because({ failure, spent })).toEqual(refused);
    expect(because({ failure, serving: EXPIRED })).toEqual({ ...refused, effect: 'payments_fail' });
    expect(because({})).toBeUndefined();
  });

  it('is what kept a call from being made, whatever failed before', () => {
    const byBudget = because({ spent, failure }, 'budget_exhausted');
    expect(byBudget).toEqual({ code: 'budget_exhausted', spent, effect: 'no_call' });
    expect(because({}, 'budget_exhausted')).toEqual({ code: 'budget_exhausted', effect: 'no_call' });
    const byStore = because({ spent, failure, store: 'store_refuses' }, 'store_down');
    expect(byStore).toEqual({ code: 'store_refuses', effect: 'no_call' });
    expect(because({ store: 'store_silent' })).toBeUndefined();
  });
});
