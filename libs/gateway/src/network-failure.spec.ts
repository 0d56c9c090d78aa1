import { inspect } from 'node:util';
import type { GatewayAnswer } from './gateway-answer.js';
import { anAnswer } from './gateway-fixtures.js';
import { networkFailure } from './network-failure.js';
import { tlsWanted } from './tls-wanted.js';

const failed = (code: string): Error => Object.assign(new Error('canary-7f3a'), { code, data: 'canary-7f3a' });

const entry = { host: 'bank.example', port: 443, via: 'gateway' } as const;
const proxy = { host: '::1', port: 3128, via: 'proxy' } as const;

describe('an exchange that broke off', () => {
  it.each([
    ['ECONNREFUSED', 'transient'],
    ['ECONNRESET', 'transient'],
    ['UND_ERR_SOCKET', 'transient'],
    ['ETIMEDOUT', 'timeout'],
    ['CERT_HAS_EXPIRED', 'refused'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'refused'],
    ['ERR_BROKER_PIN_MISMATCH', 'refused'],
    ['UND_ERR_INVALID_ARG', 'refused'],
    ['UND_ERR_HEADERS_OVERFLOW', 'invalid_response'],
    ['HPE_INVALID_CONSTANT', 'invalid_response'],
    ['HTTPParserError', 'invalid_response'],
    ['UND_ERR_DESTROYED', 'aborted'],
    ['ABORT_ERR', 'aborted'],
  ])('with %s is %s', (code, kind) => {
    const failure = networkFailure(failed(code), entry);
    expect(failure.kind).toBe(kind);
    expect(failure.detail).toContain(code);
  });

  it.each([
    ['ECONNREFUSED', { peer: '[::1]:3128', viaProxy: true }],
    ['UND_ERR_PRX_TLS', { peer: '[::1]:3128', viaProxy: true }],
    ['CERT_HAS_EXPIRED', { peer: 'bank.example:443' }],
  ])('through a proxy with %s is laid to whom it was about', (mark, peer) => {
    expect(networkFailure(failed(mark), proxy, entry).trace).toEqual({ mark, ...peer });
  });

  it('is described by its code alone: nothing else of the error is kept', () => {
    expect(inspect(networkFailure(failed('HPE_INVALID_CONSTANT'), entry), { depth: null })).not.toContain(
      'canary-7f3a',
    );
  });

  it.each([[failed('not a code: canary-7f3a')], [new TypeError('canary-7f3a')], ['canary-7f3a'], [undefined]])(
    'is transient without a usable code',
    (error) => {
      const failure = networkFailure(error, entry);
      expect(failure.kind).toBe('transient');
      expect(inspect(failure, { depth: null })).not.toContain('canary-7f3a');
    },
  );
});

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
    expect(failure).toMatchObject({ trace: { mark: 'ERR_BROKER_TLS_SPOKEN', peer: 'bank.example:8443' } });
    expect(JSON.stringify(failure) + failure?.message).not.toContain(MARKER);
  });

  it.each([
    ['another page', bytes('<html>blocked</html>'), 400, 'http'],
    ['another status', bytes(PAGE), 403, 'http'],
    ['a call with TLS', bytes(PAGE), 400, 'https'],
  ] as const)('is left as it is: %s', (...[, body, httpStatus, scheme]) => {
    expect(failureOf(anAnswer(body, { httpStatus }), scheme)).toBeUndefined();
  });
});
