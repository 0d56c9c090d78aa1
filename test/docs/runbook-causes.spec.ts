import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Cause, causeOf } from '#libs/session';

const RUNBOOKS = join(import.meta.dirname, '..', '..', 'docs', 'runbooks');
const thumbprint = 'x'.repeat(43);

type Failure = Parameters<typeof causeOf>[0];
const unreached = (mark: string, kind: Failure['kind'] = 'transient'): Failure => ({
  kind,
  trace: { mark, peer: 'bank.example:443' },
});

/** What was read on the page or the command line, and is looked up in the runbook named next to it. */
const met: readonly (readonly [words: string, failure: Failure])[] = [
  ['nothing listens there', unreached('ECONNREFUSED')],
  ['its name has no address', unreached('ENOTFOUND')],
  ['the name server does not answer', unreached('EAI_AGAIN')],
  ['nothing answers there', unreached('UND_ERR_CONNECT_TIMEOUT')],
  ['no route leads there', unreached('EHOSTUNREACH')],
  ['broke the call off', unreached('ECONNRESET')],
  ['TLS is spoken there', unreached('ERR_BROKER_TLS_SPOKEN')],
  ['no TLS is spoken there', unreached('ERR_SSL_WRONG_VERSION_NUMBER')],
  ['no answer in time', { kind: 'timeout', trace: { peer: 'bank.example:443' } }],
  ['the bank reports a fault of its own', { kind: 'transient', msgCode: 'b_server_is_overloaded' }],
  [
    'a code that is not known here',
    { kind: 'transient', msgCode: 'b_something_new', trace: { httpStatus: 200, unknownCode: true } },
  ],
  ['past its expiry on arrival', { kind: 'invalid_response', trace: { mark: 'ERR_BROKER_PAST_EXPIRY' } }],
  ["the bank's answer is not a session", { kind: 'invalid_response', msgCode: 'b_strange' }],
  ["the bank's answer is empty", { kind: 'transient', msgCode: 'empty_answer' }],
  ['a firewall or proxy answers in place of the bank', { kind: 'transient', msgCode: 'html_page' }],
  ['a firewall turns the call away', { kind: 'refused', msgCode: 'html_page' }],
  ['gateway.baseUrl is probably wrong', { kind: 'transient', trace: { httpStatus: 404 } }],
  ['the address asked leads elsewhere', { kind: 'invalid_response', trace: { httpStatus: 301 } }],
  ['the bank refuses', { kind: 'refused', msgCode: 'b_merchant_not_found' }],
  ['the bank has revoked the access', { kind: 'revoked', msgCode: 'b_auth_token_expired' }],
  ['has expired', unreached('CERT_HAS_EXPIRED', 'refused')],
  ['is not trusted', unreached('SELF_SIGNED_CERT_IN_CHAIN', 'refused')],
  ['has a key that is not pinned', unreached('ERR_BROKER_PIN_MISMATCH', 'refused')],
  ['the answer is sealed to another key than ours', { kind: 'invalid_response', trace: { thumbprint } }],
];

describe('the runbook of a cause', () => {
  it.each(met)('says what to do in the words that led to it: %s', (words, failure) => {
    const { text, runbook }: Cause = causeOf(failure);
    expect(text).toContain(words);
    const page = readFileSync(join(RUNBOOKS, `${runbook}.md`), 'utf8');
    expect(page.slice(page.indexOf('\n## Do')).replaceAll(/\s+/g, ' ')).toContain(words);
  });
});
