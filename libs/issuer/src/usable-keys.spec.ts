import { generateKeyPairSync } from 'node:crypto';
import { TestIssuer, type SigningAlgorithm } from '#libs/testing';
import { keysOf, SIGNATURE_ALGORITHMS, usableKeys } from './usable-keys.js';

const algorithms: readonly SigningAlgorithm[] = ['ES256', 'ES384', 'RS256', 'PS256', 'EdDSA'];
const ec = { ...new TestIssuer('one', 'ES256').publicJwk };
const { alg: _, ...unmarked } = ec;
const isUsable = (key: object): boolean => usableKeys([{ ...key }]).length === 1;

describe('a key of an issuer', () => {
  it.each(algorithms)('that signs by %s can be used', (algorithm) => {
    expect(SIGNATURE_ALGORITHMS).toContain(algorithm);
    expect(isUsable(new TestIssuer('one', algorithm).publicJwk)).toBe(true);
  });

  it.each<[string, object]>([
    ['does not say what it is for', unmarked],
    ['says that it verifies', { ...unmarked, key_ops: ['verify'] }],
  ])('that %s can be used', (_what, key) => {
    expect(isUsable(key)).toBe(true);
  });

  it.each<[string, object]>([
    ['is for encryption', { ...ec, use: 'enc' }],
    ['is for anything but to verify', { ...ec, key_ops: ['deriveKey'] }],
    ['is for an algorithm of another curve', { ...ec, alg: 'ES384' }],
    ['is for a shared secret', { kty: 'oct', k: 'c2VjcmV0', alg: 'HS256' }],
    ['is on a curve that signs nothing here', { ...unmarked, crv: 'secp256k1' }],
    ['agrees on keys and signs nothing', generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' })],
    ['cannot be read', { ...ec, x: 'AAAA' }],
    ['is of no known kind', { kty: 'XX' }],
    ['is too short', generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey.export({ format: 'jwk' })],
  ])('that %s cannot', (_what, key) => {
    expect(isUsable(key)).toBe(false);
  });
});

describe('a key set', () => {
  it.each<[object, number | undefined]>([
    [{ keys: [] }, 0],
    [{ keys: [{}, { kty: 'EC' }] }, 2],
    [{ keys: {} }, undefined],
    [{ keys: [1] }, undefined],
    [[], undefined],
    [{}, undefined],
  ])('is looked for in %j', (document, count) => {
    expect(keysOf(document)?.length).toBe(count);
  });
});
