import { existsSync, readFileSync } from 'node:fs';
import { instantFromEpochMs } from '#libs/clock';
import type { Cause, FailureTrace } from '#libs/session';
import { callFaults, type Failed, leadsElsewhere, seemsMisaddressed } from './call-faults.js';
import { helpFor, told, toldCall, toldStore } from './told.js';
import { type CauseCode, effects, words } from './words.js';

const thumbprint = 'giDq73_2bc-X1mJeOZdZGtHIgq17_7yBU6003q9kBQo';
const newestKey = 'V9aJ5NusUFnWTvi2YBLxvAB3vCXj7Vo20BPbiFaN8-U';
const peer = 'bank.example:443';
const marked = (mark: string, kind: Failed['kind'] = 'transient', rest: FailureTrace = {}): Failed => ({
  kind,
  trace: { mark, peer, ...rest },
});
const untrusted = (mark: string): Failed => marked(mark, 'refused');
const answered = (kind: Failed['kind'], httpStatus: number, msgCode?: string): Failed => ({
  kind,
  msgCode,
  trace: { httpStatus },
});
const proxied: FailureTrace = { peer: 'out.example:3128', viaProxy: true };

/** What is said of a failed call, by the runbook that goes on from there. */
const calls: Readonly<Record<string, readonly (readonly [text: string, call: Failed])[]>> = {
  'renewals-failing': [
    ['nothing listens there (ECONNREFUSED to bank.example:443)', marked('ECONNREFUSED')],
    [
      'nothing listens there (ECONNREFUSED to the proxy out.example:3128)',
      marked('ECONNREFUSED', 'transient', proxied),
    ],
    ['the host has no address (ENOTFOUND for bank.example:443)', marked('ENOTFOUND')],
    ['the name server does not answer (EAI_AGAIN for bank.example:443)', marked('EAI_AGAIN')],
    ['no route leads there (EHOSTUNREACH to bank.example:443)', marked('EHOSTUNREACH')],
    ['nothing answers there (no connection in time to bank.example:443)', marked('UND_ERR_CONNECT_TIMEOUT', 'timeout')],
    [
      'the port speaks no TLS, but the address begins with https (bank.example:443)',
      marked('ERR_SSL_WRONG_VERSION_NUMBER'),
    ],
    ['the port speaks TLS, but the address begins with http (bank.example:443)', marked('ERR_BROKER_TLS_SPOKEN')],
    ['the Fetch standard forbids that port (bank.example:443)', marked('ERR_BROKER_BAD_PORT')],
    ['bank.example:443 broke the call off (ECONNRESET)', marked('ECONNRESET')],
    ['no answer in time from bank.example:443 (UND_ERR_HEADERS_TIMEOUT)', marked('UND_ERR_HEADERS_TIMEOUT', 'timeout')],
    ['no answer in time from bank.example:443', { kind: 'timeout', trace: { peer } }],
    ['no answer in time from the gateway', { kind: 'aborted' }],
    [
      'the bank reports a fault of its own: b_server_is_overloaded',
      answered('transient', 404, 'b_server_is_overloaded'),
    ],
    [
      'a firewall or proxy answers in place of the bank: a page of HTML (HTTP 503)',
      answered('transient', 503, 'html_page'),
    ],
    [
      'gateway.baseUrl is probably wrong, or the service is away (HTTP 404, b_service_unavailable)',
      answered('transient', 404, 'b_service_unavailable'),
    ],
    ['gateway.baseUrl is probably wrong: it takes no create calls (HTTP 405)', answered('transient', 405)],
    [
      'gateway.baseUrl is probably wrong: it takes no create calls (HTTP 404, a page of HTML)',
      answered('transient', 404, 'html_page'),
    ],
    [
      'gateway.baseUrl is probably wrong: it redirects, and no call follows (HTTP 301)',
      answered('invalid_response', 301),
    ],
    ['the bank reports a fault of its own: b_service_unavailable', answered('transient', 503, 'b_service_unavailable')],
    [
      'the bank answers with a code that is not known here: b_something_new',
      { kind: 'transient', msgCode: 'b_something_new', trace: { httpStatus: 200, unknownCode: true } },
    ],
    ["the bank's answer is empty", { kind: 'transient', msgCode: 'empty_answer' }],
    ["the bank's answer is not a session (HTTP 200)", answered('invalid_response', 200)],
    ['the token that keeps the private key does not work, so that no call is made', { kind: 'key_unavailable' }],
  ],
  'access-refused': [
    ['the certificate of bank.example:443 has expired (CERT_HAS_EXPIRED)', untrusted('CERT_HAS_EXPIRED')],
    ['the certificate of bank.example:443 is not valid yet (CERT_NOT_YET_VALID)', untrusted('CERT_NOT_YET_VALID')],
    [
      'the certificate of bank.example:443 is for another name (ERR_TLS_CERT_ALTNAME_INVALID)',
      untrusted('ERR_TLS_CERT_ALTNAME_INVALID'),
    ],
    [
      'the certificate of bank.example:443 has a key that is not pinned (ERR_BROKER_PIN_MISMATCH)',
      untrusted('ERR_BROKER_PIN_MISMATCH'),
    ],
    [
      'the certificate of bank.example:443 is not trusted (SELF_SIGNED_CERT_IN_CHAIN)',
      untrusted('SELF_SIGNED_CERT_IN_CHAIN'),
    ],
    ['the request cannot be sent as configured (UND_ERR_INVALID_ARG)', untrusted('UND_ERR_INVALID_ARG')],
    [
      "the bank's new session opens with none of our keys",
      { kind: 'invalid_response', trace: { thumbprint, httpStatus: 200 }, newestKey: thumbprint },
    ],
    ['the bank refuses: b_merchant_not_found', answered('refused', 400, 'b_merchant_not_found')],
    ['the bank has revoked the access: b_auth_token_expired', { kind: 'revoked', msgCode: 'b_auth_token_expired' }],
    ['the bank refuses (HTTP 403)', answered('refused', 403)],
    [
      'a firewall turns the call away: a page of HTML in place of an answer (HTTP 403)',
      answered('refused', 403, 'html_page'),
    ],
  ],
  'unopenable-records': [
    [
      'another replica asked the bank with another key (giDq73_2…) than our newest (V9aJ5Nus…)',
      { kind: 'invalid_response', trace: { thumbprint }, newestKey },
    ],
  ],
  'clock-skew': [
    [
      'the session was past its expiry on arrival',
      { kind: 'invalid_response', trace: { mark: 'ERR_BROKER_PAST_EXPIRY' } },
    ],
  ],
};

/** What was read on the page or the command line, and is looked up in the runbook. */
const lookedUp = [
  'nothing listens there',
  'the host has no address',
  'the name server does not answer',
  'nothing answers there',
  'no route leads there',
  'broke the call off',
  'the port speaks TLS',
  'the port speaks no TLS',
  'no answer in time',
  'the bank reports a fault of its own',
  'a code that is not known here',
  'past its expiry on arrival',
  "the bank's answer is not a session",
  "the bank's answer is empty",
  'a firewall or proxy answers in place of the bank',
  'a firewall turns the call away',
  'gateway.baseUrl is probably wrong',
  'it redirects, and no call follows',
  'the bank refuses',
  'the bank has revoked the access',
  'has expired',
  'is not trusted',
  'has a key that is not pinned',
  "the bank's new session opens with none of our keys",
];

const moment = instantFromEpochMs(Date.parse('2026-11-28T20:13:59.100Z'));
const spent = { freeAt: moment, window: { calls: 20, perMs: 600_000 } };

/** What is said of a merchant whose cause is not a call. */
const others: Record<string, Cause> = {
  'Not renewed: all 20 create calls of 10 min are spent; the next is free at 2026-11-28 20:14:00 UTC': {
    code: 'budget_exhausted',
    spent,
    effect: 'not_renewed',
  },
  'No call was made: the one create call of 1 h is spent; the next is free at 2026-11-28 20:14:00 UTC': {
    code: 'budget_exhausted',
    spent: { freeAt: moment, window: { calls: 1, perMs: 3_600_000 } },
    effect: 'no_call',
  },
  'Payments fail, by report: the share of the budget is spent': { code: 'budget_exhausted', effect: 'reported_dead' },
  'Payments fail, by report: nothing newer has come yet': { code: 'not_replaced', effect: 'reported_dead' },
  'Payments fail: somebody else creates sessions with the bank, and each ends ours': {
    code: 'foreign_authorizer',
    effect: 'payments_fail',
  },
  'Payments failed until 2026-11-28 20:14:00 UTC: somebody else created sessions; watched until 2026-11-28 20:14:00 UTC':
    { code: 'watched', failedUntil: moment, watchedUntil: moment },
  'Payments fail: the newer session 1795361088612 opens with none of our keys': {
    code: 'unopened',
    generation: 1_795_361_088_612,
    effect: 'payments_fail',
  },
  'Payments fail: the store does not answer': { code: 'store_silent', effect: 'payments_fail' },
  'Not renewed: the store refuses what it is asked': { code: 'store_refuses', effect: 'not_renewed' },
  'Payments fail: a session is being created': { code: 'renewing', effect: 'payments_fail' },
  'Not renewed: no attempt has ended yet': { code: 'not_tried', effect: 'not_renewed' },
};

const MAX_LENGTH = 120;

describe('what is wrong, in words', () => {
  const each = Object.entries(calls).flatMap(([runbook, of]) => of.map(([text, call]) => ({ text, call, runbook })));

  it.each(each)('is said of a failed call: $text', ({ text, call, runbook }) => {
    expect(toldCall(call)).toMatchObject({ text, runbook });
    expect(seemsMisaddressed(call)).toBe(text.includes('baseUrl is probably wrong'));
  });

  it.each(lookedUp)('is found in the runbook by the words that led to it: %s', (words) => {
    const runbooks = new Set(each.filter(({ text }) => text.includes(words)).map(({ runbook }) => runbook));
    expect(runbooks.size).toBeGreaterThan(0);
    for (const runbook of runbooks)
      expect(readFileSync(`docs/runbooks/${runbook}.md`, 'utf8').replaceAll(/\s+/g, ' ')).toContain(words);
  });

  it.each(Object.entries(others))('is said of a merchant: %s', (text, cause) => {
    expect(told(cause, 'shop').text).toBe(text);
  });

  it('begins with what a failed call does to the merchant, and ends with the command where nothing else helps', () => {
    const cause = { code: 'invalid_response', trace: { thumbprint }, newestKey: thumbprint } as const;
    expect(told({ ...cause, effect: 'payments_fail' }, 'shop')).toEqual({
      text: "Payments fail: the bank's new session opens with none of our keys",
      remedy: `compare the key that the bank has with ours, whose thumbprint is ${thumbprint}; then session-broker renew --merchant shop`,
      runbook: 'access-refused',
    });
    expect(told({ code: 'timeout' }, 'shop').remedy).not.toContain('renew --merchant');
  });

  it('fits into a line, whatever it does, for each that there is', () => {
    const failed = each.map(
      ({ call: { kind, ...call } }) => ({ ...call, code: kind === 'aborted' ? 'timeout' : kind }) as Cause,
    );
    const every = Object.keys(effects).flatMap((effect) => failed.map((cause) => ({ ...cause, effect }) as Cause));
    const texts = [...Object.values(others), ...every].map((cause) => told(cause, 'shop').text);
    expect(texts.filter(({ length }) => length > MAX_LENGTH)).toEqual([]);
  });

  it('is there for every fault of a call', () => {
    const met = new Set(each.map(({ text }) => text));
    expect(met.size).toBeGreaterThanOrEqual(callFaults.length);
  });

  it.each(Object.keys(words) as CauseCode[])('has a remedy and a runbook that exists: %s', (code) => {
    const { says, remedy, runbook } = words[code];
    for (const text of [says, remedy]) expect(text).toMatch(/^[\w{].{8,}[^.\s]$/);
    expect(existsSync(`docs/runbooks/${runbook}.md`)).toBe(true);
    expect(helpFor(code)?.runbook).toBe(runbook);
  });

  it('is unknown for a word of a later version', () => {
    expect(helpFor('constructor')).toBeUndefined();
  });

  it('has for a store what its refusal means, where that is known', () => {
    expect(toldStore('refuses', 'OOM')).toEqual({
      text: 'The store has no memory left (OOM)',
      remedy: 'Raise its maxmemory, or free memory',
      runbook: 'store-down',
    });
    expect(toldStore('silent', 'ECONNREFUSED').text).toBe('The store does not answer (ECONNREFUSED)');
  });
});

describe('an address that is wrong', () => {
  it('is one where the scheme is another, or where nobody says in the words of the gateway that it is away', () => {
    expect(leadsElsewhere(answered('transient', 404))).toBe(true);
    expect(leadsElsewhere(answered('transient', 404, 'b_service_unavailable'))).toBe(false);
    expect(leadsElsewhere(marked('ERR_BROKER_TLS_SPOKEN'))).toBe(true);
    expect(leadsElsewhere(answered('refused', 403))).toBe(false);
  });
});
