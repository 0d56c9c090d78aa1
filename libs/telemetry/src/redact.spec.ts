import { createSecretKey } from 'node:crypto';
import fc from 'fast-check';
import { BrokerError } from '#libs/errors';
import { redactText } from './redact-text.js';
import { redact } from './redact.js';

const CANARY = 'Zk7canaryQ';

const printed = (value: unknown): string => JSON.stringify(redact(value)) ?? '';

describe('redact', () => {
  it.each(
    'authToken refreshToken deviceId serviceCode d k p q jwe plaintext authorization cookie token password secret privateKey clientKey tokens'.split(
      ' ',
    ),
  )('withholds what stands under %s', (key) => {
    expect(redact({ outer: [{ [key]: CANARY }] })).toEqual({ outer: [{ [key]: '[redacted]' }] });
    expect(redact({ [key]: { deep: [CANARY, { x: CANARY }] } })).toEqual({ [key]: '[redacted]' });
  });

  it.each(['clientKeyThumbprint', 'generation', 'expiresAt', 'clientKeyFiles', 'tokenExpiration', 'merchant', 'due'])(
    'prints what stands under %s',
    (key) => expect(redact({ [key]: 'shop' })).toEqual({ [key]: 'shop' }),
  );

  it.each<[string, unknown]>([
    ['a Map', new Map([['authToken', CANARY]])],
    ['a Set of objects', new Set([{ authToken: CANARY }])],
    ['a list of names and values', ['Host', 'x', 'Authorization', CANARY]],
    ['a list of pairs', [['x-device_id', CANARY]]],
    ['a list of name and value objects', [{ name: 'authorization', value: CANARY }]],
    ['an accessor', Object.defineProperty({}, 'fine', { get: () => CANARY, enumerable: true })],
    ['toJSON', { toJSON: () => CANARY }],
    ['a hidden property', Object.defineProperty({}, 'fine', { value: CANARY, enumerable: false })],
    ['a symbol key', { [Symbol('authToken')]: CANARY }],
    ['a Buffer', Buffer.from(CANARY)],
    ['a typed array', { bytes: new Uint8Array(Buffer.from(CANARY)) }],
    ['an ArrayBuffer', new Uint8Array(Buffer.from(CANARY)).buffer],
    [
      'a class instance',
      new (class Command {
        args = [CANARY];
      })(),
    ],
    ['a proxy', new Proxy({ fine: CANARY }, {})],
    ['a function', Object.assign(() => CANARY, { token: CANARY })],
    ['a KeyObject', createSecretKey(Buffer.from(CANARY))],
    ['a symmetric JWK', { kty: 'oct', k: CANARY }],
    ['a URL object', new URL(`redis://user:${CANARY}@127.0.0.1:6379/0?x=${CANARY}`)],
    ['a cause that is a text', new Error('x', { cause: CANARY })],
    ['a cause that is an object', new Error('x', { cause: { fine: CANARY } })],
    ['the name of an error', Object.assign(new Error('x'), { name: `${CANARY} leaked` })],
    ['the code of an error', Object.assign(new Error('x'), { code: `${CANARY} leaked` })],
    ['the request id of an error', Object.assign(new Error('x'), { requestId: `${CANARY} leaked` })],
    ['an aggregate of errors', new AggregateError([new Error(CANARY), CANARY], CANARY)],
    ['a DOMException', new DOMException(CANARY, 'AbortError')],
  ])('shows nothing of a secret in %s', (_name, value) => {
    expect(printed(value)).not.toContain(CANARY);
    expect(printed({ nested: [{ value }] })).not.toContain(CANARY);
    expect(printed(value)).not.toMatch(/90,\s*107,\s*55/);
  });

  it('survives a cycle, and shows twice a value that stands in two places', () => {
    const shared = { shop: 1 };
    const cyclic: Record<string, unknown> = { a: shared, b: shared };
    cyclic['self'] = cyclic;
    expect(redact(cyclic)).toEqual({ a: { shop: 1 }, b: { shop: 1 }, self: '[circular]' });
  });

  it('never throws, whatever a proxy or a getter does', () => {
    const fails = (): never => {
      throw new Error(CANARY);
    };
    const hostile = new Proxy({}, { ownKeys: fails });
    const { proxy: revoked, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(printed({ hostile, revoked })).toBe('{"hostile":"[proxy]","revoked":"[proxy]"}');
    expect(printed(Object.defineProperty(new Error('x'), 'code', { get: fails }))).toContain('"name":"Error"');
  });

  it('keeps depth, width, text and the number of values bounded', () => {
    const deep = Array.from({ length: 50 }).reduce<object>((inner) => ({ inner }), {});
    expect(printed(deep)).toContain('[deeper]');
    expect(printed(Array.from({ length: 100_000 }, () => 1)).length).toBeLessThan(300);
    expect(printed(Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`n${i}`, i]))).length).toBeLessThan(
      1_000,
    );
    expect(printed('ab '.repeat(1_000_000)).length).toBeLessThan(4_200);
    const wide = (depth: number): unknown => (depth === 0 ? 1 : Array.from({ length: 60 }, () => wide(depth - 1)));
    expect(printed(wide(3)).length).toBeLessThan(40_000);
  });

  it('keeps a key named __proto__ a key, and the prototype of the copy untouched', () => {
    const copy = redact(JSON.parse('{"__proto__":{"polluted":1},"shop":1}')) as Record<string, unknown>;
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"polluted":1},"shop":1}');
    expect(copy['polluted']).toBeUndefined();
  });

  it('prints plain data as it is, says that a secret is absent, and changes nothing of what it is given', () => {
    const when = new Date('2026-03-18T12:34:52.099Z');
    const plain = { merchant: 'shop', generation: 7, ok: true, list: Object.freeze([1]), none: null };
    const absent = { refreshToken: undefined, deviceId: null };
    const given = Object.freeze({ ...plain, ...absent, when, big: 12n, nan: NaN, authToken: CANARY });
    const copy = { ...plain, ...absent, when: when.toISOString(), big: '12', nan: 'NaN', authToken: '[redacted]' };
    expect(redact(given)).toEqual(copy);
    expect(given).toMatchObject({ list: [1], authToken: CANARY });
  });
});

describe('redact on errors', () => {
  it('prints nothing but its allow-list of a library error', () => {
    const error = Object.assign(new Error(`unexpected ${CANARY}`), {
      code: 'ECONNRESET',
      command: { name: 'set', args: ['key', CANARY] },
      body: CANARY,
      detail: CANARY,
      config: { headers: { authorization: CANARY } },
    });
    const copy = redact({ err: error }) as { err: Record<string, unknown> };
    expect(Object.keys(copy.err)).toEqual(['name', 'code', 'stack']);
    expect(JSON.stringify(copy)).not.toContain(CANARY);
    expect(copy.err['stack']).toMatch(/^at .*redact\.spec/);
  });

  it('prints code, detail, kind, msgCode, status, request id and causes of our own errors', () => {
    const cause = new BrokerError('gateway_transient', { detail: 'the gateway answered 503' });
    const facts = { kind: 'transient', msgCode: 'b_server_is_overloaded', httpStatus: 503, requestId: 'r-1' };
    const error = Object.assign(new BrokerError('internal_error', { cause }), facts);
    expect(redact(error)).toMatchObject({
      name: 'BrokerError',
      code: 'internal_error',
      ...facts,
      cause: { code: 'gateway_transient', detail: 'the gateway answered 503' },
    });
  });

  it('takes the message out of the stack even where the message looks like frames', () => {
    const error = new Error(`first\n    at ${CANARY} (/src/x.js:1:1)\n    at more`);
    expect(printed(error)).not.toContain(CANARY);
    expect(printed(error)).toContain('redact.spec');
    const changed = new Error(`before\n    at ${CANARY} (/src/x.js:1:1)`);
    changed.message = 'after';
    expect(printed(changed)).not.toContain(CANARY);
    changed.message = '';
    expect(printed(changed)).not.toContain(CANARY);
  });

  it('bounds a chain of causes, also an endless one', () => {
    const first = new Error('a');
    first.cause = new Error('b', { cause: first });
    expect(printed(first)).toContain('[deeper causes left out]');
  });
});

describe('redact as a property', () => {
  const secretKey = fc
    .constantFrom('authToken', 'refreshToken', 'deviceId', 'serviceCode', 'password', 'clientKey', 'jwe', 'd', 'cookie')
    .chain((name) =>
      fc.constantFrom(name, name.toUpperCase(), name.split('').join('-'), `${name}_`, name.replace(/[A-Z]/, '_$&')),
    );
  const secret: fc.Arbitrary<unknown> = fc.oneof(
    fc.constant(CANARY),
    fc.constant([CANARY]),
    fc.constant({ any: CANARY }),
    fc.constant(new Map([['any', CANARY]])),
    fc.constant(Buffer.from(CANARY)),
    fc.constant(new Error(CANARY)),
  );
  const wrap = (inner: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    fc.oneof(
      fc.tuple(fc.string(), inner).map(([key, value]) => ({ [key]: value, other: 1 })),
      fc.tuple(fc.anything(), inner).map(([before, value]) => [before, value]),
      inner.map((value) => new Map([['in', value]])),
      inner.map((value) => new Set([value])),
      inner.map((value) => new Error('x', { cause: value })),
    );
  const placed = fc.tuple(secretKey, secret).map(([key, value]): unknown => ({ [key]: value }));
  const anywhere = fc.nat({ max: 6 }).chain((depth) => {
    let arbitrary: fc.Arbitrary<unknown> = placed;
    for (let i = 0; i < depth; i += 1) arbitrary = wrap(arbitrary);
    return arbitrary;
  });

  it('lets no canary under a secret key survive, wherever that is', () => {
    fc.assert(
      fc.property(anywhere, (value) => !printed(value).includes(CANARY)),
      { numRuns: 2_000 },
    );
  });

  it('answers any value at all with plain data that JSON can hold', () => {
    fc.assert(
      fc.property(
        fc.anything({
          withMap: true,
          withSet: true,
          withDate: true,
          withBigInt: true,
          withTypedArray: true,
          withNullPrototype: true,
          withSparseArray: true,
          withObjectString: true,
          withBoxedValues: true,
        }),
        (value) => {
          expect(() => JSON.stringify(redact(value))).not.toThrow();
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

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
});
