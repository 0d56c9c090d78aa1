import { createHmac, generateKeyPairSync } from 'node:crypto';
import { plusMs } from '#libs/clock';
import { FakeClock, TestIssuer } from '#libs/testing';
import type { Refusal } from './caller.js';
import { JwtVerifier, type VerifiedToken, VerifiedTokens } from './jwt-verifier.js';
import { FixedKeySet } from './key-set.js';

const { ISSUER, AUDIENCE, SUBJECT } = TestIssuer;

const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('JwtVerifier', () => {
  const clock = new FakeClock();
  const now = Math.floor(clock.now() / 1_000);
  const issuer = new TestIssuer();
  const verifierOf = ({ publicJwk }: TestIssuer, types: readonly string[] = []): JwtVerifier => {
    const jwt = { issuer: ISSUER, audience: AUDIENCE, types, clockToleranceMs: 5_000 };
    return new JwtVerifier(jwt, new FixedKeySet({ keys: [publicJwk] }), clock);
  };
  const verifier = verifierOf(issuer);

  const verdictOn = async (token: string, by: JwtVerifier = verifier): Promise<Refusal | 'accepted'> => {
    try {
      await by.verify(token);
      return 'accepted';
    } catch (error) {
      return (error as { refusal: Refusal }).refusal;
    }
  };

  it('finds the caller in the subject, and until when it is let in, the tolerance included', async () => {
    const { caller } = await verifier.verify(issuer.token(clock.now()));
    expect(caller).toEqual({ name: SUBJECT, validUntil: (now + 605) * 1_000 });
  });

  it('takes a token of Kubernetes, with what else is in it', async () => {
    const claims = { aud: [AUDIENCE, 'other'], nbf: now, jti: 'x', 'kubernetes.io': { namespace: 'shop' } };
    expect(await verdictOn(issuer.token(clock.now(), claims))).toBe('accepted');
  });

  it.each(['ES256', 'ES384', 'RS256', 'PS256', 'EdDSA'] as const)('takes signatures of %s', async (algorithm) => {
    const other = new TestIssuer('other', algorithm);
    expect((await verifierOf(other).verify(other.token(clock.now()))).caller.name).toBe(SUBJECT);
  });

  it.each<[string, object, Refusal | 'accepted']>([
    ['expired', { exp: now - 6 }, 'expired'],
    ['expired within the tolerance', { exp: now - 4 }, 'accepted'],
    ['not yet valid', { nbf: now + 6 }, 'not_yet_valid'],
    ['not yet valid within the tolerance', { nbf: now + 4 }, 'accepted'],
    ['for another audience', { aud: 'other' }, 'audience'],
    ['of another issuer', { iss: `${ISSUER}/` }, 'issuer'],
    ['without an audience', { aud: undefined }, 'audience'],
    ['without an end', { exp: undefined }, 'claims'],
    ['without a subject', { sub: undefined }, 'claims'],
    ['with a subject that no policy could have', { sub: 'a b' }, 'claims'],
    ['with a subject of another type', { sub: 5 }, 'claims'],
    ['without an end that a clock shows', { exp: 2 ** 53 }, 'claims'],
    ['good for as long as a clock can show', { exp: 8.64e12 }, 'accepted'],
    ['bound to no certificate in particular', { cnf: { 'x5t#S256': 5 } }, 'claims'],
    ['bound to what is no thumbprint', { cnf: { 'x5t#S256': 'a' } }, 'claims'],
    ['bound in another way', { cnf: { jkt: 'a'.repeat(43) } }, 'accepted'],
  ])('judges a token that is %s', async (_what, claims, expected) => {
    expect(await verdictOn(issuer.token(clock.now(), claims))).toBe(expected);
  });

  it.each<[string, { header?: object; claims?: object; types?: string[] }, Refusal | 'accepted']>([
    ['that does not say', {}, 'accepted'],
    ['that is called JWT', { header: { typ: 'JWT' } }, 'accepted'],
    ['of an access token', { header: { typ: 'application/at+jwt' } }, 'accepted'],
    ['of a security event', { header: { typ: 'secevent+jwt' } }, 'type'],
    ['of nothing', { header: { typ: '' } }, 'type'],
    ['of an unmarked ID token', { claims: { nonce: 'n' } }, 'type'],
    ['of an ID token beside an access token', { claims: { at_hash: 'h' } }, 'type'],
    ['of an unmarked logout token', { claims: { events: {} } }, 'type'],
    ['of an ID token of Keycloak', { header: { typ: 'JWT' }, claims: { typ: 'ID' } }, 'type'],
    ['of an access token of Keycloak', { header: { typ: 'JWT' }, claims: { typ: 'Bearer' } }, 'accepted'],
    ['that is demanded', { header: { typ: 'at+JWT' }, types: ['application/at+jwt'] }, 'accepted'],
    ['that is missing where one is demanded', { types: ['at+jwt'] }, 'type'],
    ['that is not the one demanded', { header: { typ: 'JWT' }, types: ['at+jwt'] }, 'type'],
    [
      'that is demanded, whatever its claims',
      { header: { typ: 'x+jwt' }, claims: { nonce: 'n' }, types: ['x+jwt'] },
      'accepted',
    ],
  ])('judges a token of a type %s', async (_what, { header, claims, types = [] }, expected) => {
    expect(await verdictOn(issuer.token(clock.now(), claims, header), verifierOf(issuer, types))).toBe(expected);
  });

  it('finds the certificate that a token is bound to', async () => {
    const thumbprint = 'A4DtL2JmUMhAsvJj5tKyn64SqzmuXbMrJa0n761y5v0';
    const token = issuer.token(clock.now(), { cnf: { 'x5t#S256': thumbprint } });
    expect((await verifier.verify(token)).caller.certificate).toBe(thumbprint);
  });

  it('refuses a token whose key leaves the set while its signature is checked', async () => {
    const keys = new FixedKeySet({ keys: [issuer.publicJwk] });
    const jwt = { issuer: ISSUER, audience: AUDIENCE, types: [], clockToleranceMs: 0 };
    const leaving = { find: keys.find.bind(keys), has: () => false, close: () => undefined };
    expect(await verdictOn(issuer.token(clock.now()), new JwtVerifier(jwt, leaving, clock))).toBe('unknown_key');
  });

  const claims = base64url({ iss: ISSUER, aud: AUDIENCE, sub: SUBJECT, exp: now + 600 });
  const underOurKeyId = (header: object): string => `${base64url({ kid: 'one', ...header })}.${claims}`;
  const signedWith = (secret: string): string => {
    const signed = underOurKeyId({ alg: 'HS256' });
    return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
  };
  const stranger = new TestIssuer('two');
  const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
  const [, ourClaims, ourSignature] = issuer.token(clock.now()).split('.');

  it.each<[string, string, Refusal]>([
    ['without a signature', `${base64url({ alg: 'none' })}.${claims}.`, 'algorithm'],
    ['without a signature that says none', `${underOurKeyId({ alg: 'none' })}.x`, 'algorithm'],
    ['that is signed with the public key as a secret', signedWith(JSON.stringify(issuer.publicJwk)), 'algorithm'],
    ['that is signed with a part of it as a secret', signedWith(String(issuer.publicJwk.x)), 'algorithm'],
    ['of somebody else under the same key id', new TestIssuer().token(clock.now()), 'signature'],
    ['of an unknown key id', stranger.token(clock.now()), 'unknown_key'],
    ['that brings its key itself', stranger.token(clock.now(), {}, { jwk, kid: 'two' }), 'unknown_key'],
    ['that brings its key itself under ours', stranger.token(clock.now(), {}, { jwk, kid: 'one' }), 'signature'],
    [
      'with an extension that has to be understood',
      `${base64url({ alg: 'ES256', kid: 'one', crit: ['x'], x: 1 })}.${ourClaims}.${ourSignature}`,
      'malformed',
    ],
    ['of three letters', 'a.b.c', 'malformed'],
    ['of two dots', '..', 'malformed'],
    ['of empty objects', 'e30.e30.e30', 'malformed'],
    ['whose header is a list', `${base64url([])}.e30.x`, 'malformed'],
    ['whose parts are texts', `${base64url('x')}.${base64url('x')}.x`, 'malformed'],
  ])('refuses a token %s', async (_what, token, refusal) => {
    expect(await verdictOn(token)).toBe(refusal);
  });
});

describe('VerifiedTokens', () => {
  const clock = new FakeClock();
  const published = new Set(['key']);
  const keys = { has: (key: string): boolean => published.has(key) };
  const token = (name: string, key = 'key'): VerifiedToken => ({
    caller: { name, validUntil: plusMs(clock.now(), 1_000) },
    key,
  });

  it('knows a token until it expires, and not a moment longer', async () => {
    const tokens = new VerifiedTokens(clock, keys);
    tokens.remember('a', token('one'));
    await clock.advance(999);
    expect(tokens.find('a')?.name).toBe('one');
    await clock.advance(1);
    expect(tokens.find('a')).toBeUndefined();
    expect(tokens.size).toBe(0);
  });

  it('holds a bounded number, and lets the least used go first', () => {
    const tokens = new VerifiedTokens(clock, keys, { max: 2 });
    tokens.remember('a', token('one'));
    tokens.remember('b', token('two'));
    tokens.find('a');
    tokens.remember('c', token('three'));
    expect(['a', 'b', 'c'].map((digest) => tokens.find(digest)?.name)).toEqual(['one', undefined, 'three']);
  });

  it('never remembers a caller without an end', () => {
    const tokens = new VerifiedTokens(clock, keys);
    tokens.remember('a', { caller: { name: 'one' }, key: 'key' });
    expect(tokens.find('a')).toBeUndefined();
  });

  it('knows a token only while its key is published, also if that left before its check had ended', () => {
    const tokens = new VerifiedTokens(clock, keys);
    published.add('leaving');
    tokens.remember('a', token('one', 'leaving'));
    tokens.remember('b', token('two'));
    published.delete('leaving');
    tokens.remember('c', token('three', 'leaving'));
    expect(['a', 'b', 'c'].map((digest) => tokens.find(digest)?.name)).toEqual([undefined, 'two', undefined]);
  });

  it('takes over what was checked before, and asks the present keys', () => {
    const before = new VerifiedTokens(clock, keys);
    before.remember('a', token('one'));
    before.remember('b', token('two', 'other'));
    const after = new VerifiedTokens(clock, { has: (key) => key === 'other' }, { before });
    expect([after.find('a'), after.find('b')?.name]).toEqual([undefined, 'two']);
  });
});
