import { causeOf, leadsElsewhere } from '#libs/session';
import type { GatewayAnswer } from './gateway-answer.js';
import { anAnswer } from './gateway-fixtures.js';
import { tlsWanted } from './tls-wanted.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const MARKER = 'Zk7canaryQ';
const PAGE = `<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head><body>${MARKER}</body></html>`;

describe('an answer to a call without TLS', () => {
  const failureOf = (answer: GatewayAnswer, scheme = 'http'): ReturnType<typeof tlsWanted> =>
    tlsWanted(answer, {
      baseUrl: new URL(`${scheme}://bank.example:8443`),
      tls: { pins: [] },
      timeoutMs: 1_000,
      environment: 'test',
    });

  it('that says that TLS is wanted is told as a wrong address, and nothing of the page is repeated', () => {
    const failure = failureOf(anAnswer(bytes(PAGE), { httpStatus: 400 }));
    if (failure === undefined) throw new Error('a failure was expected');
    const { kind, trace } = failure;
    const failed = { kind, ...(trace === undefined ? {} : { trace }) };
    expect(causeOf(failed).text).toBe('TLS is spoken there, although the address begins with http (bank.example:8443)');
    expect(leadsElsewhere(failed)).toBe(true);
    expect(JSON.stringify(failure) + failure.message).not.toContain(MARKER);
  });

  it.each([
    ['another page', bytes('<html>blocked</html>'), 400, 'http'],
    ['another status', bytes(PAGE), 403, 'http'],
    ['a call with TLS', bytes(PAGE), 400, 'https'],
  ] as const)('is left as it is: %s', (...[, body, httpStatus, scheme]) => {
    expect(failureOf(anAnswer(body, { httpStatus }), scheme)).toBeUndefined();
  });
});
