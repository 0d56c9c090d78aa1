import { compactDecrypt, decodeProtectedHeader, exportJWK, generateKeyPair } from 'jose';
import { seal } from './jwe.js';

const PROFILE = 'ECDH-ES+A256KW';

describe('payloads', () => {
  let open: (jwe: string) => Promise<string>;
  let publicJwk: Record<string, unknown>;

  beforeEach(async () => {
    const { publicKey, privateKey } = await generateKeyPair(PROFILE, { crv: 'P-384', extractable: true });
    publicJwk = { ...(await exportJWK(publicKey)) };
    open = async (jwe) => Buffer.from((await compactDecrypt(jwe, privateKey)).plaintext).toString();
  });

  it('are sealed by the profile of the gateway, and never alike', async () => {
    const jwe = await seal(publicJwk, '{"pan":"4111…"}');
    expect(await open(jwe)).toBe('{"pan":"4111…"}');
    expect(decodeProtectedHeader(jwe)).toEqual({
      alg: PROFILE,
      enc: 'A256GCM',
      epk: { kty: 'EC', crv: 'P-384', x: expect.any(String), y: expect.any(String) },
    });
    expect(jwe).not.toBe(await seal(publicJwk, '{"pan":"4111…"}'));
  });

  it('are sealed to a key that says what it is for, up to 64 KiB', async () => {
    const jwk = { ...publicJwk, use: 'enc', alg: PROFILE, kid: 'payment-key' };
    expect(await open(await seal(jwk, 'x'.repeat(65_536)))).toHaveLength(65_536);
    await expect(seal(jwk, 'é'.repeat(32_769))).rejects.toMatchObject({ code: 'payload_too_large' });
  });

  it.each<[string, (jwk: Record<string, unknown>) => object]>([
    ['a private key', (jwk) => ({ ...jwk, d: 'A'.repeat(64) })],
    ['another curve', (jwk) => ({ ...jwk, crv: 'P-256' })],
    ['another type', () => ({ kty: 'oct', k: 'AAAA' })],
    ['another use', (jwk) => ({ ...jwk, use: 'sig' })],
    ['another algorithm', (jwk) => ({ ...jwk, alg: 'ECDH-ES' })],
    ['a short coordinate', (jwk) => ({ ...jwk, x: 'AAAA' })],
    ['no point', (jwk) => ({ ...jwk, y: jwk['x'] })],
    ['a list', () => []],
  ])('are not sealed to %s', async (_what, change) => {
    await expect(seal(change(publicJwk), 'x')).rejects.toMatchObject({ code: 'jwk_invalid' });
  });

  it.each<[string, unknown]>([
    ['object: JSON.stringify an object first', {}],
    ['undefined', undefined],
  ])('are not sealed when they are %s', async (given, payload) => {
    const message = expect.stringContaining(`not ${given}`) as string;
    await expect(seal(publicJwk, payload as string)).rejects.toMatchObject({ code: 'payload_invalid', message });
  });
});
