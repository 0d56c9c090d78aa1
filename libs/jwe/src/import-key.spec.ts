import { inspect } from 'node:util';
import { jest } from '@jest/globals';
import { BrokerError } from '#libs/errors';
import { calculateJwkThumbprint } from 'jose';
import { clientHandlesOf } from './client-key.js';
import { generateClientKey } from './generate-client-key.js';
import { checkServerKey, importClientKey, importPaymentKey, importServerKey } from './import-key.js';
import { thumbprintOf } from './public-jwk.js';
import { recipientHandleOf } from './recipient-key.js';

type Jwk = Record<string, unknown>;

const b64 = (octets: Uint8Array): string => Buffer.from(octets).toString('base64url');
const zeros = (count: number): string => b64(new Uint8Array(count));
const without = (jwk: Jwk, name: string): Jwk =>
  Object.fromEntries(Object.entries(jwk).filter(([key]) => key !== name));

const invalid = (message: RegExp): object => ({
  code: 'jwk_invalid',
  message: expect.stringMatching(message) as string,
});

let privateJwk: Jwk;
let publicJwk: Jwk;
let otherPrivateJwk: Jwk;

beforeAll(async () => {
  ({ privateJwk, publicJwk } = await generateClientKey());
  otherPrivateJwk = (await generateClientKey()).privateJwk;
});

describe('a client key', () => {
  it('is imported and shows its public half alone', async () => {
    const key = await importClientKey(privateJwk);
    const { kty, crv, x, y } = publicJwk;
    expect(key.publicJwk).toEqual({ kty, crv, x, y });
    expect(JSON.parse(JSON.stringify(key))).toEqual({ publicJwk: { kty, crv, x, y }, thumbprint: key.thumbprint });
    expect(inspect(key, { depth: 9, showHidden: true })).not.toContain(privateJwk['d']);
    expect(Object.isFrozen(key.publicJwk)).toBe(true);
  });

  it('is imported without the optional members and with members of other purposes', async () => {
    const bare = without(without(privateJwk, 'use'), 'alg');
    await expect(importClientKey(bare)).resolves.toHaveProperty('thumbprint');
    await expect(importClientKey({ ...privateJwk, kid: 'k1', key_ops: ['deriveBits'] })).resolves.toBeDefined();
    await expect(importClientKey({ ...privateJwk, key_ops: ['deriveKey', 'deriveBits'] })).resolves.toBeDefined();
  });

  const refusals: readonly [string, (jwk: Jwk) => unknown, RegExp][] = [
    ['null', () => null, /JSON object/],
    ['an array', (jwk) => [jwk], /JSON object/],
    ['another key type', (jwk) => ({ ...jwk, kty: 'OKP' }), /"kty" must be "EC"/],
    ['another curve', (jwk) => ({ ...jwk, crv: 'P-256' }), /"crv" must be "P-384"/],
    ['a signature key', (jwk) => ({ ...jwk, use: 'sig' }), /"use"/],
    ['another algorithm', (jwk) => ({ ...jwk, alg: 'ECDH-ES+A128KW' }), /"alg"/],
    ['operations that sign', (jwk) => ({ ...jwk, key_ops: ['deriveBits', 'sign'] }), /"key_ops"/],
    ['operations that are not a list', (jwk) => ({ ...jwk, key_ops: 'deriveBits' }), /"key_ops"/],
    ['no operation at all', (jwk) => ({ ...jwk, key_ops: [] }), /"key_ops"/],
    ['no x', (jwk) => without(jwk, 'x'), /"x" must be/],
    ['y of 47 octets', (jwk) => ({ ...jwk, y: b64(Buffer.from(jwk['y'] as string, 'base64url').subarray(1)) }), /"y"/],
    ['no d', (jwk) => without(jwk, 'd'), /this is a public key where the private one is due/],
    ['short d', (jwk) => ({ ...jwk, d: zeros(47) }), /"d" must be/],
    ['d of zero', (jwk) => ({ ...jwk, d: zeros(48) }), /"d" is out of range/],
    ['d of another key', (jwk) => ({ ...jwk, d: otherPrivateJwk['d'] }), /"d" does not belong/],
    ['a point off the curve', (jwk) => ({ ...jwk, y: jwk['x'] }), /"d" does not belong/],
  ];

  it.each(refusals)('is refused: %s', async (_name, mutate, expected) => {
    await expect(importClientKey(mutate(privateJwk))).rejects.toMatchObject(invalid(expected));
  });
});

it('a server key is imported once, however much is sealed to it', async () => {
  const jwk = { ...publicJwk };
  expect(await importServerKey(jwk)).toBe(await importServerKey(jwk));
  expect(await importServerKey({ ...publicJwk })).not.toBe(await importServerKey(jwk));
});

describe.each([
  ['a server key', importServerKey],
  ['a payment key', importPaymentKey],
])('%s', (_name, importKey) => {
  it('is imported with the four members alone, and with members it has no use for', async () => {
    const { kty, crv, x, y } = publicJwk;
    const key = await importKey({ kty, crv, x, y });
    expect(key.jwk).toEqual({ kty, crv, x, y });
    expect(checkServerKey({ ...publicJwk, kid: 'k' })).toEqual({ kty, crv, x, y });
    await expect(importKey({ ...publicJwk, kid: 'k', 'x5t#S256': 'z', key_ops: [], later: {} })).resolves.toBeDefined();
  });

  it('is refused, first of all, when it is a private key', async () => {
    const inherited = Object.create({ d: privateJwk['d'] }) as Jwk;
    for (const jwk of [{ ...privateJwk, crv: 'P-256' }, { ...publicJwk, d: null }, inherited]) {
      await expect(importKey(jwk)).rejects.toThrow(/"d" is present/);
    }
  });

  const refusals: readonly [string, (jwk: Jwk) => object, RegExp][] = [
    ['a list', () => [], /JSON object/],
    ['another curve', (jwk) => ({ ...jwk, crv: 'P-521' }), /"crv"/],
    ['a signature key', (jwk) => ({ ...jwk, use: 'sig' }), /"use"/],
    ['direct agreement', (jwk) => ({ ...jwk, alg: 'ECDH-ES' }), /"alg"/],
    ['operations that verify', (jwk) => ({ ...jwk, key_ops: ['verify'] }), /"key_ops"/],
    ['a point off the curve', (jwk) => ({ ...jwk, x: jwk['y'], y: jwk['x'] }), /not a point of P-384/],
    ['short coordinates', (jwk) => ({ ...jwk, x: zeros(32), y: zeros(32) }), /"x" must be/],
  ];

  it.each(refusals)('is refused: %s', async (_case, mutate, expected) => {
    await expect(importKey(mutate(publicJwk))).rejects.toMatchObject(invalid(expected));
    expect(() => checkServerKey(mutate(publicJwk))).toThrow(expected);
  });
});

describe('an imported key', () => {
  it('does not come back out, and can do what it is for and no more', async () => {
    const { agreement, atRest } = clientHandlesOf(await importClientKey(privateJwk));
    const recipient = recipientHandleOf(await importServerKey(publicJwk));
    expect([agreement, await atRest(), recipient].map((handle) => [handle?.extractable, handle?.usages])).toEqual([
      [false, ['deriveBits']],
      [false, ['deriveKey']],
      [false, []],
    ]);
  });

  it('leaves no scalar in the memory that was needed to import it, whether it was imported or not', async () => {
    const decoded = jest.spyOn(Buffer, 'from');
    const scalarOf = (jwk: Jwk): unknown =>
      decoded.mock.results.find((_, call) => (decoded.mock.calls[call] as unknown[])[0] === jwk['d'])?.value;
    const mismatched = { ...privateJwk, d: otherPrivateJwk['d'] };
    await importClientKey(privateJwk);
    await expect(importClientKey(mismatched)).rejects.toBeInstanceOf(BrokerError);
    const scalars = [scalarOf(privateJwk), scalarOf(mismatched)];
    decoded.mockRestore();
    expect(scalars).toEqual([Buffer.alloc(48), Buffer.alloc(48)]);
  });
});

describe('a thumbprint', () => {
  it('is that of RFC 7638, whatever else the key carries and in whatever order', async () => {
    const key = await importClientKey({ kid: 'first', ...privateJwk });
    expect(key.thumbprint).toBe(await calculateJwkThumbprint(publicJwk, 'sha256'));
    expect((await importServerKey(publicJwk)).thumbprint).toBe(key.thumbprint);
    expect(thumbprintOf(key.publicJwk)).toBe(key.thumbprint);
  });
});

describe('a generated key', () => {
  it('has the members of the interface description, and no private one in the public form', async () => {
    const generated = await generateClientKey();
    expect(Object.keys(generated.privateJwk)).toEqual(['kty', 'crv', 'use', 'alg', 'x', 'y', 'd']);
    expect(Object.keys(generated.publicJwk)).toEqual(['kty', 'crv', 'use', 'alg', 'x', 'y']);
    expect(generated.privateJwk).toMatchObject({ kty: 'EC', crv: 'P-384', use: 'enc', alg: 'ECDH-ES+A256KW' });
    expect((await importClientKey(generated.privateJwk)).thumbprint).toBe(generated.thumbprint);
  });
});
