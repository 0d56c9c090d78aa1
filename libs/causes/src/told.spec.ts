import { existsSync, readFileSync } from 'node:fs';
import { instantFromEpochMs } from '#libs/clock';
import type { Cause, FailureTrace } from '#libs/session';
import { type CallFault, callFaults, type Failed, faultOf, leadsElsewhere, seemsMisaddressed } from './call-faults.js';
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

type Row = [fault: CallFault, call: Failed, heard?: string];
/** A call for each fault, and the words by which its runbook is looked up, where that has them. */
const calls: readonly Row[] = [
  ['key_unavailable', { kind: 'key_unavailable' }],
  ['past_expiry', marked('ERR_BROKER_PAST_EXPIRY', 'invalid_response'), 'past its expiry on arrival'],
  ['certificate_expired', untrusted('CERT_HAS_EXPIRED'), 'has expired'],
  ['certificate_not_yet_valid', untrusted('CERT_NOT_YET_VALID')],
  ['certificate_other_name', untrusted('ERR_TLS_CERT_ALTNAME_INVALID')],
  ['certificate_not_pinned', untrusted('ERR_BROKER_PIN_MISMATCH'), 'has a key that is not pinned'],
  ['certificate_untrusted', untrusted('SELF_SIGNED_CERT_IN_CHAIN'), 'is not trusted'],
  ['unsendable', untrusted('UND_ERR_INVALID_ARG')],
  ['no_route', marked('EHOSTUNREACH'), 'no route leads there'],
  ['nothing_listens', marked('ECONNREFUSED'), 'nothing listens there'],
  ['no_address', marked('ENOTFOUND'), 'the host has no address'],
  ['no_name_server', marked('EAI_AGAIN'), 'the name server does not answer'],
  ['no_connection', marked('UND_ERR_CONNECT_TIMEOUT', 'timeout'), 'nothing answers there'],
  ['no_tls', marked('ERR_SSL_WRONG_VERSION_NUMBER'), 'the port speaks no TLS'],
  ['bad_port', marked('ERR_BROKER_BAD_PORT')],
  ['tls_spoken', marked('ERR_BROKER_TLS_SPOKEN'), 'the port speaks TLS'],
  ['no_answer', marked('UND_ERR_HEADERS_TIMEOUT', 'timeout'), 'no answer in time'],
  ['no_answer', { kind: 'aborted' }, 'no answer in time'],
  ['broken_off', marked('ECONNRESET'), 'broke the call off'],
  ['other_key', { kind: 'invalid_response', trace: { thumbprint }, newestKey }, 'asked the bank with another key'],
  [
    'sealed',
    { kind: 'invalid_response', trace: { thumbprint, httpStatus: 200 }, newestKey: thumbprint },
    "the bank's new session opens with none of our keys",
  ],
  ['maybe_misaddressed', answered('transient', 404, 'b_service_unavailable'), 'gateway.baseUrl is probably wrong'],
  ['misaddressed', answered('transient', 405), 'gateway.baseUrl is probably wrong'],
  ['misaddressed', answered('transient', 404, 'html_page'), 'gateway.baseUrl is probably wrong'],
  ['redirected', answered('invalid_response', 301), 'it redirects, and no call follows'],
  ['empty_answer', { kind: 'transient', msgCode: 'empty_answer' }, "the bank's answer is empty"],
  ['firewall', answered('refused', 403, 'html_page'), 'a firewall turns the call away'],
  ['firewall_or_proxy', answered('transient', 503, 'html_page'), 'a firewall or proxy answers in place of the bank'],
  [
    'unknown_code',
    { kind: 'transient', msgCode: 'b_something_new', trace: { httpStatus: 200, unknownCode: true } },
    'a code that is not known here',
  ],
  ['transient', answered('transient', 404, 'b_server_is_overloaded'), 'the bank reports a fault of its own'],
  ['transient', answered('transient', 503, 'b_service_unavailable'), 'the bank reports a fault of its own'],
  ['invalid_response', answered('invalid_response', 200), "the bank's answer is not a session"],
  ['refused', answered('refused', 403), 'the bank refuses'],
  ['revoked', { kind: 'revoked', msgCode: 'b_auth_token_expired' }, 'the bank has revoked the access'],
];

/** What is filled into the words. */
const texts: readonly (readonly [text: string, call: Failed])[] = [
  ['nothing listens there (ECONNREFUSED to bank.example:443)', marked('ECONNREFUSED')],
  [
    'nothing listens there (ECONNREFUSED to the proxy out.example:3128)',
    marked('ECONNREFUSED', 'transient', { peer: 'out.example:3128', viaProxy: true }),
  ],
  ['nothing answers there (no connection in time to bank.example:443)', marked('UND_ERR_CONNECT_TIMEOUT', 'timeout')],
  ['no answer in time from bank.example:443 (UND_ERR_HEADERS_TIMEOUT)', marked('UND_ERR_HEADERS_TIMEOUT', 'timeout')],
  ['no answer in time from the gateway', { kind: 'aborted' }],
  ['the certificate of bank.example:443 has expired (CERT_HAS_EXPIRED)', untrusted('CERT_HAS_EXPIRED')],
  [
    'gateway.baseUrl is probably wrong: it takes no create calls (HTTP 404, a page of HTML)',
    answered('transient', 404, 'html_page'),
  ],
  [
    'gateway.baseUrl is probably wrong, or the service is away (HTTP 404, b_service_unavailable)',
    answered('transient', 404, 'b_service_unavailable'),
  ],
  [
    'a firewall or proxy answers in place of the bank: a page of HTML (HTTP 503)',
    answered('transient', 503, 'html_page'),
  ],
  ["the bank's answer is empty", { kind: 'transient', msgCode: 'empty_answer' }],
  ['the bank refuses (HTTP 403)', answered('refused', 403)],
  ['the bank refuses: b_merchant_not_found', answered('refused', 400, 'b_merchant_not_found')],
  [
    'another replica asked the bank with another key (giDq73_2…) than our newest (V9aJ5Nus…)',
    { kind: 'invalid_response', trace: { thumbprint }, newestKey },
  ],
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
  it.each<Row>(calls)(
    'is known of a failed call, and found in the runbook by what is heard: %s',
    (fault, call, heard = '') => {
      const { text, runbook } = toldCall(call);
      expect(faultOf(call)).toBe(fault);
      expect(seemsMisaddressed(call)).toBe(text.includes('baseUrl is probably wrong'));
      // Nothing is left out of it.
      expect(text).not.toMatch(/[{}]|\( | \)|[: ]$/);
      expect(text).toContain(heard);
      expect(readFileSync(`docs/runbooks/${runbook}.md`, 'utf8').replaceAll(/\s+/g, ' ')).toContain(heard);
    },
  );

  it.each(texts)('is said of a failed call: %s', (text, call) => expect(toldCall(call).text).toBe(text));

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
    const failed = calls.map(
      ([, { kind, ...call }]) => ({ ...call, code: kind === 'aborted' ? 'timeout' : kind }) as Cause,
    );
    const every = Object.keys(effects).flatMap((effect) => failed.map((cause) => ({ ...cause, effect }) as Cause));
    const said = [...Object.values(others), ...every].map((cause) => told(cause, 'shop').text);
    expect(said.filter(({ length }) => length > MAX_LENGTH)).toEqual([]);
  });

  it('is there for every fault of a call', () => {
    expect(calls.map(([fault]) => fault)).toEqual(expect.arrayContaining(callFaults));
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
