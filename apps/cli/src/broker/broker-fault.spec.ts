import type { AnswerMembers } from './answer.js';
import { faultOfAnswer, faultOfSilence } from './broker-fault.js';
import type { NoAnswer } from './no-answer.js';

const problem = (code: string): AnswerMembers => ({ type: `urn:session-broker:problem:${code}`, code, title: 'none' });
const CORRECT = 'correct --url, or BROKER_URL';

describe('what a broker answered instead', () => {
  const faultOf = (status: number, body: AnswerMembers, seen: { url?: string; hasToken?: boolean } = {}): unknown => {
    const { url = 'http://broker:8080/', hasToken = true } = seen;
    const { error, fault } = faultOfAnswer({ status, body }, { url: new URL(url) }, { hasToken });
    return { ...error, fault };
  };

  it.each<[string, unknown, string, string | RegExp]>([
    [
      'a token that is not accepted',
      faultOf(401, problem('unauthenticated')),
      'refused',
      'give the token of a caller of this broker, by BROKER_TOKEN_FILE or --token-file',
    ],
    [
      'a right that is lacking',
      faultOf(403, problem('forbidden')),
      'refused',
      'grant it in auth.policies of the broker',
    ],
    [
      'a bank whose answer is no session',
      faultOf(503, { ...problem('session_unavailable'), reason: 'invalid_response' }),
      'invalidAnswer',
      /^show the bank the gatewayRequestId .* \(runbook: renewals-failing\)$/,
    ],
    ['a management port', faultOf(404, problem('route_not_found')), 'invalidInput', CORRECT],
    [
      'a path too many',
      faultOf(404, problem('route_not_found'), { url: 'http://broker:8080/v1/' }),
      'invalidInput',
      `${CORRECT}: give the address alone, http://broker:8080`,
    ],
    ['a redirect', faultOf(302, {}), 'invalidInput', CORRECT],
    ['the success of somebody else', faultOf(200, {}), 'invalidInput', CORRECT],
    ['a proxy that lets nobody in', faultOf(403, {}), 'refused', /have it let this machine in/],
    ['a proxy that does not reach the broker', faultOf(502, {}), 'tryLater', /see whether it reaches the broker/],
  ])('is told by class and remedy: %s', (...[, told, fault, remedy]) => {
    const expected = remedy instanceof RegExp ? (expect.stringMatching(remedy) as string) : remedy;
    expect(told).toMatchObject({ fault });
    expect(told).toHaveProperty('remedy', expected);
  });

  it('is named by the code, the words and the status that it has', () => {
    expect(faultOf(502, {})).toMatchObject({
      ...{ code: 'unexpected_answer', message: 'the answer is not of a broker [HTTP 502]', status: 502 },
    });
    expect(faultOf(503, problem('shutting_down'))).toEqual({
      ...{ code: 'shutting_down', message: 'none [HTTP 503, shutting_down]', status: 503, fault: 'tryLater' },
    });
  });
});

it('tells of a certificate that the given file of authorities does not vouch for what that file lacks', () => {
  const mark = 'SELF_SIGNED_CERT_IN_CHAIN';
  const why: NoAnswer = { kind: 'untrusted', problem: 'not trusted', fault: 'refused', mark };
  expect(faultOfSilence(why, { url: new URL('https://broker:8080') }, { ca: 'a file' })).toMatchObject({
    error: {
      code: 'certificate_untrusted',
      remedy: 'BROKER_CA_FILE, or --ca-file, lacks the authority that has issued it: give a file that has it',
    },
    fault: 'refused',
  });
});
