import { type UnavailableReason, unavailableReasons } from '#libs/errors';
import { type UnavailabilityFacts, whyUnavailable } from './why-unavailable.js';

const nothing: UnavailabilityFacts = {
  isBudgetSpent: false,
  store: undefined,
  failure: undefined,
  isRenewing: false,
  serving: 'no_session',
};

const because = (facts: Partial<UnavailabilityFacts>): UnavailableReason => whyUnavailable({ ...nothing, ...facts });

describe('the reason for which there is no session', () => {
  it.each<[UnavailableReason, Partial<UnavailabilityFacts>]>([
    ['no_session', {}],
    ['expired', { serving: 'expired' }],
    ['not_replaced', { serving: 'current' }],
    ['not_replaced', { serving: 'past_margin' }],
    ['renewing', { isRenewing: true, serving: 'expired' }],
    ['transient', { failure: 'transient' }],
    ['timeout', { failure: 'timeout' }],
    ['refused', { failure: 'refused' }],
    ['revoked', { failure: 'revoked' }],
    ['invalid_response', { failure: 'invalid_response' }],
    ['store_silent', { store: 'silent' }],
    ['store_refuses', { store: 'refuses' }],
    ['budget_exhausted', { isBudgetSpent: true }],
  ])('is %s', (reason, facts) => {
    expect(because(facts)).toBe(reason);
  });

  it('is the failure that was, while the next attempt is under way', () => {
    expect(because({ failure: 'refused', isRenewing: true, serving: 'expired' })).toBe('refused');
  });

  it('is what keeps everybody from trying, before what became of the last try', () => {
    expect(because({ failure: 'transient', store: 'silent' })).toBe('store_silent');
    expect(because({ failure: 'transient', isBudgetSpent: true, store: 'refuses' })).toBe('budget_exhausted');
  });

  it('is none of the failures that are our own doing', () => {
    expect(because({ failure: 'aborted' })).toBe('no_session');
  });
});

describe('the words of a reason', () => {
  it.each(Object.entries(unavailableReasons))('are whole sentences without a full stop: %s', (_reason, words) => {
    for (const sentence of [words.caller, words.page]) expect(sentence).toMatch(/^[A-Z].{15,}[^.\s]$/);
  });
});
