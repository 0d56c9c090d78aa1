import fc from 'fast-check';
import { redactText } from './redact-text.js';

const CANARY = 'Zk7canaryQ';
const HEADER = Buffer.from('{"alg":"ECDH-ES+A256KW","enc":"A256GCM"}').toString('base64url');

describe('redactText', () => {
  it.each<[string, string]>([
    ['a compact JWE', `got ${HEADER}.${CANARY}aaaaaaaaa.iv.${CANARY}.tag here`],
    ['a compact JWE with an empty key', `${HEADER}..iv.${CANARY}.tag`],
    ['a JWE that was cut', `${HEADER}.${CANARY}`],
    ['a JWT', `${HEADER}.${CANARY}.sig`],
    ['five parts with a strange header', `QQQQQQQQQQQQQQQQQQ.${CANARY}.b.c.d`],
    ['a bearer credential', `header was bearer ${CANARY}`],
    ['a basic credential', `Authorization: Basic ${CANARY}==`],
    ['a private JWK', `{"kty":"EC","d":"${CANARY}"}`],
    ['JSON inside JSON', JSON.stringify({ body: JSON.stringify({ authToken: CANARY, n: 1 }) })],
    ['a JSON text with an escaped quote', `{"password":"a\\"${CANARY}"}`],
    ['an inspected object', `{ deviceId: '${CANARY}' }`],
    ['a nested value', `{"token":{"value":"${CANARY}"}}`],
    ['a form body', `grant=x&refresh_token=${CANARY}&y=1`],
    ['a cookie line', `Cookie: a=b; c=${CANARY}`],
    ['a PEM key without an end', `-----BEGIN EC PRIVATE KEY-----\n${CANARY}`],
    ['userinfo', `redis://:${CANARY}@cache:6379/0`],
    ['userinfo with a slash', `redis://:a/${CANARY}@cache:6379/0`],
    ['userinfo with a question mark', `redis://:a?${CANARY}@cache:6379/0`],
    ['a query', `https://gateway.example/cipher/decrypt_by_jwk?message=${CANARY}`],
    ['a fragment', `https://gateway.example/#${CANARY}`],
    ['the query of a path', `GET /v1/x?secret=${CANARY} failed`],
    ['a long run', `${CANARY}${'a'.repeat(60)}`],
  ])('removes %s', (_name, text) => {
    expect(redactText(text)).not.toContain(CANARY);
  });

  it.each([
    'session 7 of shop is valid until 2026-03-18T12:34:52.099Z',
    'https://gateway.example:8443/api-gateway/authorize_virtual_device',
    'merchants[0].serviceCode: is not a UUID',
    'auth.tokens[0].sha256: must be 64 hexadecimal digits',
    '137d9304-0368-11ed-b939-0242ac120002',
    'thumbprint NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
    'listening on 127.0.0.1:8080',
    'file:///srv/node_modules/@nestjs/core/index.js',
  ])('leaves %s alone', (text) => {
    expect(redactText(text)).toBe(text);
  });

  it('keeps what tells where a URL goes', () => {
    expect(redactText('at https://u:p@gateway.example/a/b?c=d#e, later')).toBe(
      'at https://gateway.example/a/b?[redacted] later',
    );
  });

  it('stays fast on texts made to be slow', () => {
    const slow = ['a', '"', '\\', '/', 'a.', 'a-', "'a':", 'eyJ', 'a=', '://', ' ', 'Bearer ', '{"'];
    for (const piece of slow) {
      const startedAt = process.cpuUsage().user;
      redactText(piece.repeat(10_000));
      expect((process.cpuUsage().user - startedAt) / 1_000).toBeLessThan(250);
    }
  });

  it('is stable: redacting twice changes nothing more', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        const once = redactText(text);
        expect(redactText(once).length).toBeLessThanOrEqual(once.length + 10);
      }),
    );
  });
});
