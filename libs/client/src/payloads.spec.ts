import { compactDecrypt, decodeProtectedHeader, exportJWK, generateKeyPair } from 'jose';
import { aDocument, json, problem, ScriptedBroker } from '../fixtures/scripted-broker.js';
import { InvalidInput, ProtocolError, RequestRefused } from './errors.js';
import { SessionBroker } from './session-broker.js';

const PROFILE = 'ECDH-ES+A256KW';

describe('payloads', () => {
  let server: ScriptedBroker;
  let broker: SessionBroker;
  let open: (jwe: string) => Promise<string>;
  let publicJwk: Record<string, unknown>;

  beforeEach(async () => {
    const { publicKey, privateKey } = await generateKeyPair(PROFILE, { crv: 'P-384', extractable: true });
    publicJwk = { ...(await exportJWK(publicKey)) };
    open = async (jwe) => Buffer.from((await compactDecrypt(jwe, privateKey)).plaintext).toString();
    server = new ScriptedBroker().on('read', () =>
      json({ ...aDocument({ createdAtMs: Date.now() }), serverPublic: publicJwk }),
    );
    broker = new SessionBroker({
      url: 'http://b.test',
      merchant: 'shop',
      auth: 't',
      fetch: server.fetch,
      follow: 'none',
    });
  });
  afterEach(() => broker.close());

  it('are sealed to the key of the session, here', async () => {
    const jwe = await broker.encryptFor((await broker.session()).serverPublic, '{"pan":"4111…"}');
    expect(await open(jwe)).toBe('{"pan":"4111…"}');
    expect(decodeProtectedHeader(jwe)).toEqual({
      alg: PROFILE,
      enc: 'A256GCM',
      epk: { kty: 'EC', crv: 'P-384', x: expect.any(String), y: expect.any(String) },
    });
    expect(server.requests).toHaveLength(1);
  });

  it('are sealed to any key of the profile, without the broker', async () => {
    const jwk = { ...publicJwk, use: 'enc', alg: PROFILE, kid: 'payment-key' };
    expect(await open(await broker.encryptFor(jwk, 'cvv'))).toBe('cvv');
    expect(server.requests).toHaveLength(0);
  });

  it('are never sealed alike', async () => {
    expect(await broker.encryptFor(publicJwk, 'x')).not.toBe(await broker.encryptFor(publicJwk, 'x'));
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
    await expect(broker.encryptFor(change(publicJwk), 'x')).rejects.toMatchObject({ code: 'jwk_invalid' });
  });

  it.each<[string, unknown]>([
    ['object: JSON.stringify it first', {}],
    ['undefined', undefined],
    ['null', null],
    ['number', 1],
  ])('are refused before anybody is asked for a session, when they are %s', async (given, payload) => {
    const failure: unknown = await broker.encryptFor(publicJwk, payload as string).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(InvalidInput);
    expect(failure).toMatchObject({ code: 'payload_invalid', message: expect.stringContaining(`not ${given}`) });
    await expect(broker.decrypt(payload as string)).rejects.toMatchObject({ code: 'jwe_invalid' });
    expect(server.requests).toEqual([]);
  });

  it('are sealed up to 64 KiB', async () => {
    expect(await open(await broker.encryptFor(publicJwk, 'x'.repeat(65_536)))).toHaveLength(65_536);
    await expect(broker.encryptFor(publicJwk, 'é'.repeat(32_769))).rejects.toMatchObject({ code: 'payload_too_large' });
  });

  it.each<[string, object, number[]]>([
    ['UTF-8', { plaintext: 'é' }, [0xc3, 0xa9]],
    ['UTF-8 that says so', { plaintext: 'é', encoding: 'utf-8' }, [0xc3, 0xa9]],
    ['base64', { plaintext: '/wA=', encoding: 'base64' }, [0xff, 0x00]],
    ['nothing', { plaintext: '' }, []],
  ])('are opened by the broker: %s', async (_what, answer, octets) => {
    server.on('decrypt', () => json(answer));
    expect([...(await broker.decrypt('a.b.c.d.e'))]).toEqual(octets);
    expect(server.seen('decrypt')[0]).toMatchObject({
      url: 'http://b.test/v1/merchants/shop/payloads/decrypt',
      body: '{"jwe":"a.b.c.d.e"}',
    });
  });

  it('are given as text where they are text', async () => {
    server.on('decrypt', () => json({ plaintext: '\uFEFFé' }));
    expect(await broker.decryptText('a.b.c.d.e')).toBe('\uFEFFé');
    server.on('decrypt', () => json({ plaintext: '/w==', encoding: 'base64' }));
    await expect(broker.decryptText('a.b.c.d.e')).rejects.toMatchObject({ cause: { code: 'not_text' } });
  });

  it('that do not open are refused once', async () => {
    server.on('decrypt', () => problem(422, 'jwe_not_opened'));
    const { cause: failure } = (await broker.decrypt('a.b.c.d.e').catch((error: unknown) => error)) as Error;
    expect(failure).toBeInstanceOf(RequestRefused);
    expect(failure).toMatchObject({ code: 'jwe_not_opened', status: 422 });
    expect(server.requests).toHaveLength(1);
  });

  it.each([{}, { plaintext: 5 }, { plaintext: 'x', encoding: 'rot13' }, { plaintext: '%', encoding: 'base64' }])(
    'are not made of %j',
    async (answer) => {
      server.on('decrypt', () => json(answer));
      await expect(broker.decrypt('a.b.c.d.e')).rejects.toMatchObject({ cause: expect.any(ProtocolError) });
    },
  );
});
