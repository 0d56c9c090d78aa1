import { instantFromEpochMs, plusMs } from '#libs/clock';
import { type UnavailableReason, unavailableReasons } from '#libs/errors';
import { aRecordedFailure, aSession } from '#libs/testing';
import type { ExplainedFacts } from './explanation.js';
import { FailureBoard } from './failure-board.js';
import { causeOf, seemsMisaddressed } from './failure-cause.js';
import { checkedTrace, type FailureTrace } from './failure-trace.js';
import { sharedFailureKinds } from './gateway-failure.js';
import type { RecordedFailure } from './ports/session-store.js';
import { explainRefusal, type RefusedWish } from './refusal-cause.js';
import { type UnavailabilityFacts, whyUnavailable } from './why-unavailable.js';

type Failed = Pick<RecordedFailure, 'kind' | 'msgCode' | 'trace'>;

const thumbprint = 'giDq73_2bc-X1mJeOZdZGtHIgq17_7yBU6003q9kBQo';
const at = (mark: string, rest: FailureTrace = {}): Pick<Failed, 'trace'> => ({
  trace: { mark, peer: 'bank.example:443', ...rest },
});

const table: Record<string, [Failed, runbook: string]> = {
  'nothing listens there (ECONNREFUSED to bank.example:443)': [
    { kind: 'transient', ...at('ECONNREFUSED') },
    'renewals-failing',
  ],
  'nothing listens there (ECONNREFUSED to the proxy out.example:3128)': [
    { kind: 'transient', ...at('ECONNREFUSED', { peer: 'out.example:3128', viaProxy: true }) },
    'renewals-failing',
  ],
  'its name has no address (ENOTFOUND for bank.example:443)': [
    { kind: 'transient', ...at('ENOTFOUND') },
    'renewals-failing',
  ],
  'the name server does not answer (EAI_AGAIN for bank.example:443)': [
    { kind: 'transient', ...at('EAI_AGAIN') },
    'renewals-failing',
  ],
  'no route leads there (EHOSTUNREACH to bank.example:443)': [
    { kind: 'transient', ...at('EHOSTUNREACH') },
    'renewals-failing',
  ],
  'nothing answers there (no connection in time to bank.example:443)': [
    { kind: 'timeout', ...at('UND_ERR_CONNECT_TIMEOUT') },
    'renewals-failing',
  ],
  'no TLS is spoken there, although the address begins with https (ERR_SSL_WRONG_VERSION_NUMBER from bank.example:443)':
    [{ kind: 'transient', ...at('ERR_SSL_WRONG_VERSION_NUMBER') }, 'renewals-failing'],
  'bank.example:443 broke the call off (ECONNRESET)': [{ kind: 'transient', ...at('ECONNRESET') }, 'renewals-failing'],
  'no answer in time from bank.example:443 (UND_ERR_HEADERS_TIMEOUT)': [
    { kind: 'timeout', ...at('UND_ERR_HEADERS_TIMEOUT') },
    'renewals-failing',
  ],
  'no answer in time from bank.example:443': [
    { kind: 'timeout', trace: { peer: 'bank.example:443' } },
    'renewals-failing',
  ],
  'the certificate of bank.example:443 has expired (CERT_HAS_EXPIRED)': [
    { kind: 'refused', ...at('CERT_HAS_EXPIRED') },
    'access-refused',
  ],
  'the certificate of bank.example:443 is for another name (ERR_TLS_CERT_ALTNAME_INVALID)': [
    { kind: 'refused', ...at('ERR_TLS_CERT_ALTNAME_INVALID') },
    'access-refused',
  ],
  'the certificate of bank.example:443 has a key that is not pinned (ERR_BROKER_PIN_MISMATCH)': [
    { kind: 'refused', ...at('ERR_BROKER_PIN_MISMATCH') },
    'access-refused',
  ],
  'the certificate of bank.example:443 is not trusted (SELF_SIGNED_CERT_IN_CHAIN)': [
    { kind: 'refused', ...at('SELF_SIGNED_CERT_IN_CHAIN') },
    'access-refused',
  ],
  'the request cannot be sent as configured (UND_ERR_INVALID_ARG)': [
    { kind: 'refused', ...at('UND_ERR_INVALID_ARG') },
    'access-refused',
  ],
  'the answer is sealed to another key than ours, or damaged': [
    { kind: 'invalid_response', trace: { thumbprint, httpStatus: 200 } },
    'access-refused',
  ],
  'the bank refuses: b_merchant_not_found': [
    { kind: 'refused', msgCode: 'b_merchant_not_found', trace: { httpStatus: 400 } },
    'access-refused',
  ],
  'the bank has revoked the access: b_auth_token_expired': [
    { kind: 'revoked', msgCode: 'b_auth_token_expired' },
    'access-refused',
  ],
  'the bank reports a fault of its own: b_server_is_overloaded': [
    { kind: 'transient', msgCode: 'b_server_is_overloaded' },
    'renewals-failing',
  ],
  'the bank refuses (HTTP 403)': [{ kind: 'refused', trace: { httpStatus: 403 } }, 'access-refused'],
  'a firewall turns the call away: a page of HTML in place of an answer (HTTP 403)': [
    { kind: 'refused', msgCode: 'html_page', trace: { httpStatus: 403 } },
    'access-refused',
  ],
  'a firewall or proxy answers in place of the bank: a page of HTML (HTTP 503)': [
    { kind: 'transient', msgCode: 'html_page', trace: { httpStatus: 503 } },
    'renewals-failing',
  ],
  'no create call is taken at the address asked: gateway.baseUrl is probably wrong, or the service is away for now (HTTP 404, b_service_unavailable)':
    [{ kind: 'transient', msgCode: 'b_service_unavailable', trace: { httpStatus: 404 } }, 'renewals-failing'],
  'no create call is taken at the address asked: gateway.baseUrl is probably wrong (HTTP 405)': [
    { kind: 'transient', trace: { httpStatus: 405 } },
    'renewals-failing',
  ],
  'no create call is taken at the address asked: gateway.baseUrl is probably wrong (HTTP 404, a page of HTML)': [
    { kind: 'transient', msgCode: 'html_page', trace: { httpStatus: 404 } },
    'renewals-failing',
  ],
  'the address asked leads elsewhere, where no call follows: gateway.baseUrl is probably wrong (HTTP 301)': [
    { kind: 'invalid_response', trace: { httpStatus: 301 } },
    'renewals-failing',
  ],
  'the bank reports a fault of its own: b_service_unavailable': [
    { kind: 'transient', msgCode: 'b_service_unavailable', trace: { httpStatus: 503 } },
    'renewals-failing',
  ],
  'the bank answers with a code that is not known here: b_something_new': [
    { kind: 'transient', msgCode: 'b_something_new', trace: { httpStatus: 200, unknownCode: true } },
    'renewals-failing',
  ],
  'the session was past its expiry on arrival: compare the clocks of broker and gateway': [
    { kind: 'invalid_response', trace: { mark: 'ERR_BROKER_PAST_EXPIRY' } },
    'clock-skew',
  ],
  "the bank's answer is empty": [{ kind: 'transient', msgCode: 'empty_answer' }, 'renewals-failing'],
  "the bank's answer is not a session (HTTP 200)": [
    { kind: 'invalid_response', trace: { httpStatus: 200 } },
    'renewals-failing',
  ],
};

describe('the cause of a failed call', () => {
  it.each(Object.entries(table))('is told as: %s', (text, [failure, runbook]) => {
    expect(causeOf(failure)).toEqual({ text, runbook });
    expect(seemsMisaddressed(failure)).toBe(text.includes('baseUrl is probably wrong'));
  });

  it.each([
    { kind: 'transient', msgCode: 'b_server_is_overloaded', trace: { httpStatus: 404 } },
    { kind: 'refused', msgCode: 'b_merchant_not_found', trace: { httpStatus: 404 } },
    { kind: 'refused', trace: { httpStatus: 403 } },
  ] as const)('is not the address where the operation itself has answered: %j', (failure) => {
    expect(seemsMisaddressed(failure)).toBe(false);
    expect(causeOf(failure).text).not.toContain('baseUrl');
  });

  it.each(sharedFailureKinds)('is told by its kind when nothing else is known: %s', (kind) => {
    expect(causeOf({ kind }).text).toMatch(/^[a-z][\w ,;:?']+$/);
  });
});

describe('what is known of a failure', () => {
  const whole = {
    mark: 'ECONNREFUSED',
    peer: '[::1]:9',
    viaProxy: true,
    httpStatus: 403,
    requestId: 'f1c7e2a0-52f1',
    thumbprint,
    unknownCode: true,
  } as const;

  it('is kept when each member is as it must be', () => {
    expect(checkedTrace({ ...whole, token: 'canary' })).toEqual(whole);
  });

  it.each([
    { mark: 'two words' },
    { mark: 'x'.repeat(65) },
    { peer: 'user:secret@bank.example' },
    { peer: '<script>' },
    { peer: 'x'.repeat(261) },
    { viaProxy: 'yes' },
    { unknownCode: 'b_something_new' },
    { httpStatus: 99 },
    { httpStatus: '403' },
    { thumbprint: `${thumbprint}x` },
    { requestId: 'two words' },
    { requestId: 'x'.repeat(65) },
    undefined,
    null,
    7,
  ])('loses what nobody of ours can have written: %j', (value) => {
    expect(checkedTrace(value)).toBeUndefined();
  });
});

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

const nothing: UnavailabilityFacts = {
  isBudgetSpent: false,
  store: undefined,
  failure: undefined,
  isRenewing: false,
  serving: 'no_session',
};

const reasonOf = (facts: Partial<UnavailabilityFacts>): UnavailableReason => whyUnavailable({ ...nothing, ...facts });

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
    expect(reasonOf(facts)).toBe(reason);
  });

  it('is the failure that was, while the next attempt is under way', () => {
    expect(reasonOf({ failure: 'refused', isRenewing: true, serving: 'expired' })).toBe('refused');
  });

  it('is what keeps everybody from trying, before what became of the last try', () => {
    expect(reasonOf({ failure: 'transient', store: 'silent' })).toBe('store_silent');
    expect(reasonOf({ failure: 'transient', isBudgetSpent: true, store: 'refuses' })).toBe('budget_exhausted');
  });

  it('is none of the failures that are our own doing', () => {
    expect(reasonOf({ failure: 'aborted' })).toBe('no_session');
  });
});

describe('the words of a reason', () => {
  it.each(Object.entries(unavailableReasons))('are whole sentences without a full stop: %s', (_reason, words) => {
    for (const sentence of [words.caller, words.page]) expect(sentence).toMatch(/^[A-Z].{15,}[^.\s]$/);
  });
});

describe('the last failures', () => {
  it('are told to those who wait, once each, however often they are read', () => {
    const board = new FailureBoard();
    const failure = aRecordedFailure();
    const heard: string[] = [];
    board.onFailure('shop', ({ kind }) => heard.push(kind));
    board.note('shop', failure);
    board.note('shop', { ...failure });
    board.note('shop', { ...failure, kind: 'timeout', at: plusMs(failure.at, 1) });
    expect(heard).toEqual(['transient', 'timeout']);
    expect(board.get('shop')?.kind).toBe('timeout');
  });

  it('are forgotten with the next session, and told to nobody who has gone', () => {
    const board = new FailureBoard();
    const heard: string[] = [];
    board.onFailure('shop', ({ kind }) => heard.push(kind))();
    board.note('shop', aRecordedFailure());
    board.clear('shop');
    expect(heard).toEqual([]);
    expect(board.get('shop')).toBeUndefined();
  });
});

describe('a failure that is noted', () => {
  it('stays when an older answer knows of none, whether another one was known before or not', () => {
    const failure = aRecordedFailure();
    const later = aRecordedFailure({ at: plusMs(failure.at, 1) });
    for (const before of [undefined, failure]) {
      const board = new FailureBoard();
      board.note('shop', later);
      board.clearSeen('shop', before);
      expect(board.get('shop')).toBe(later);
      board.clearSeen('shop', later);
      expect(board.get('shop')).toBeUndefined();
    }
  });

  it('is news once, until another one or a session takes its place', () => {
    const board = new FailureBoard();
    const failure = aRecordedFailure();
    expect(board.note('shop', failure)).toBe(true);
    expect(board.note('shop', { ...failure })).toBe(false);
    board.clear('shop');
    expect(board.get('shop')).toBeUndefined();
    expect(board.note('shop', failure)).toBe(true);
  });
});
