import { endedAfterEach, FakeClock } from '#libs/testing';
import { sealCompact } from '../../apps/sandbox/src/crypto/compact-jwe.js';
import { generateKeyPair, readPublicKey } from '../../apps/sandbox/src/crypto/ec-key.js';
import { AUTHORIZE, msgCodeOf, RunningSandbox } from './running-sandbox.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const COORDINATE = /^[\w-]{64}$/;

describe('the played gateway', () => {
  let clock: FakeClock;
  let sandbox: RunningSandbox;

  const started = endedAfterEach();
  beforeEach(async () => {
    clock = new FakeClock('2026-03-18T12:19:52.099Z');
    sandbox = started.add(await RunningSandbox.start(clock), (it) => it.close());
    await sandbox.register();
  });

  describe('create session', () => {
    it('gives the full form: two tokens, device, serverPublic and all three moments of expiry', async () => {
      const response = await sandbox.authorize();
      expect(response.status).toBe(200);
      expect(response.headers.get('date')).toBe('Wed, 18 Mar 2026 12:19:52 GMT');
      expect(await sandbox.read(response)).toEqual({
        authToken: expect.stringMatching(UUID),
        refreshToken: expect.stringMatching(UUID),
        deviceId: expect.stringMatching(UUID),
        serverPublic: {
          kty: 'EC',
          crv: 'P-384',
          x: expect.stringMatching(COORDINATE),
          y: expect.stringMatching(COORDINATE),
        },
        tokenExpirationDateTime: '2026-03-18 12:34:52.0990 +0000',
        tokenExpiration: '2026-03-18 12:34:52.099+00:00',
        sessionExpiration: '2026-03-18 12:34:52.099+00:00',
      });
    });

    it('gives the short form: one token, device and serverPublicKey', async () => {
      await sandbox.register({ form: 'short' });
      const session = await sandbox.session();
      expect(Object.keys(session).sort()).toEqual(['authToken', 'deviceId', 'serverPublicKey']);
    });

    it.each<[string, object]>([
      ['documented', { tokenExpirationDateTime: '2026-03-18 14:34:52.0990 +0200' }],
      [
        'all',
        {
          tokenExpirationDateTime: '2026-03-18 14:34:52.0990 +0200',
          tokenExpiration: '2026-03-18 14:34:52.099+02:00',
          sessionExpiration: '2026-03-18 14:34:52.099+02:00',
        },
      ],
      [
        'padded',
        { tokenExpirationDateTime: '2026-03-18 14:34:52.0099 +0200', tokenExpiration: '2026-03-18 14:34:52.099+02:00' },
      ],
      ['observed', { tokenExpiration: '2026-03-18 14:34:52.099+02:00' }],
      ['zulu', { tokenExpirationDateTime: '2026-03-18 12:34:52.099Z' }],
      ['sessionExpiration', { sessionExpiration: '2026-03-18 14:34:52.099+02:00' }],
      ['none', {}],
    ])('writes the end of a session as %s', async (expiryFormat, expected) => {
      await sandbox.register({ expiryFormat, utcOffsetMinutes: 120 });
      const members = Object.entries(await sandbox.session()).filter(([name]) => /expiration/i.test(name));
      expect(Object.fromEntries(members)).toEqual(expected);
    });

    it.each(['1', 'v1', 'V1', undefined])('takes x-api_version %s', async (version) => {
      const headers = version === undefined ? {} : { 'x-api_version': version };
      const response = await sandbox.send(AUTHORIZE, { headers, body: { serviceCode: sandbox.serviceCode } });
      expect((await sandbox.read(response)).authToken).toBeDefined();
    });

    it.each(['2', 'v2', '1.0'])('refuses x-api_version "%s" in an error body under 200', async (version) => {
      const response = await sandbox.authorize({
        headers: { 'x-api_version': version, 'x-request_id': 'request-7' },
      });
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({
        requestId: 'request-7',
        serviceId: 'sandbox',
        msgCode: 'b_invalid_request',
        msgType: 'VALIDATION_ERROR',
        msgText: expect.any(String),
        isLocalized: false,
        msgAttrs: {},
        errorCauses: [],
      });
    });

    it('knows a service code in either case, and no other', async () => {
      const upper = await sandbox.authorize({ body: { serviceCode: sandbox.serviceCode.toUpperCase() } });
      expect(upper.status).toBe(200);
      const other = await sandbox.authorize({ body: { serviceCode: '00000000-0000-4000-8000-000000000000' } });
      expect([other.status, await msgCodeOf(other)]).toEqual([200, 'b_merchant_not_found']);
    });

    it.each<[string, unknown]>([
      ['no service code', {}],
      ['a service code that is not a UUID', { serviceCode: 'shop' }],
      ['null', null],
    ])('calls a body with %s an invalid request', async (_name, body) => {
      const response = await sandbox.send(AUTHORIZE, { headers: { 'x-api_version': '1' }, body });
      expect([response.status, await msgCodeOf(response)]).toEqual([200, 'b_invalid_request']);
    });

    it.each<[string, { status: number; code: string; type: string; body: string }]>([
      ['no JSON', { status: 400, code: 'b_error_parse_json', type: 'application/json', body: '{' }],
      ['of an unknown type', { status: 415, code: 'b_invalid_request', type: 'image/png', body: 'x' }],
      [
        'too large',
        { status: 413, code: 'b_invalid_request', type: 'application/json', body: '"'.padEnd(300_000, 'a') },
      ],
    ])('answers a body that is %s in the observed shape, and logs the call', async (_name, given) => {
      const { status, code, type, body } = given;
      const response = await sandbox.send(AUTHORIZE, { headers: { 'content-type': type }, body });
      expect([response.status, await msgCodeOf(response)]).toEqual([status, code]);
      const { calls } = await sandbox.calls();
      expect(calls).toMatchObject([{ operation: 'authorize', outcome: 'refused', httpStatus: status }]);
    });

    it('keeps the request id of the caller, and gives one to a request without', async () => {
      const own = await sandbox.authorize({ headers: { 'x-request_id': 'abc-1' } });
      expect(own.headers.get('x-request_id')).toBe('abc-1');
      const unfit = await sandbox.authorize({ headers: { 'x-request_id': 'a b<c>' } });
      expect(unfit.headers.get('x-request_id')).toMatch(UUID);
    });

    it('takes no GET of an operation, and has none of it in the log of calls', async () => {
      const response = await sandbox.send(AUTHORIZE, { method: 'GET' });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
      expect((await sandbox.calls()).calls).toEqual([]);
    });

    it('has no other service', async () => {
      const response = await sandbox.send('/api-gateway/refresh', { body: {} });
      expect([response.status, await msgCodeOf(response)]).toEqual([404, 'b_service_unavailable']);
    });
  });

  describe('session request data', () => {
    const required = { requestData: 'required', requestDataName: 'session-data' };

    const sealedData = async (data: object): Promise<string> => {
      const { jwk } = await sandbox.control<{ jwk: object }>('/recipient-key', { method: 'GET' });
      return sealCompact(JSON.stringify(data), readPublicKey(jwk));
    };
    const good = (): object => ({ deviceType: 'ECOM_MERCHANT_SERVICE_DEVICE', clientPublicKey: sandbox.own.jwk });

    it('is taken from the body and from the header of its name', async () => {
      await sandbox.register(required);
      const jwe = await sealedData(good());
      expect((await sandbox.read(await sandbox.authorize({ body: { 'session-data': jwe } }))).authToken).toMatch(UUID);
      expect((await sandbox.read(await sandbox.authorize({ headers: { 'session-data': jwe } }))).authToken).toMatch(
        UUID,
      );
    });

    it.each<[string, string, () => object]>([
      ['another device type', 'b_invalid_request', () => ({ ...good(), deviceType: 'PHONE' })],
      ['another client key', 'b_invalid_request', () => ({ ...good(), clientPublicKey: generateKeyPair().jwk })],
    ])('is refused with %s', async (_name, msgCode, data) => {
      await sandbox.register(required);
      const response = await sandbox.authorize({ body: { 'session-data': await sealedData(data()) } });
      expect([response.status, await msgCodeOf(response)]).toEqual([200, msgCode]);
    });

    it('is refused when it is missing, cannot be decrypted, or is not JSON', async () => {
      await sandbox.register(required);
      expect(await msgCodeOf(await sandbox.authorize())).toBe('b_invalid_request');
      const forOther = sealCompact(JSON.stringify(good()), generateKeyPair());
      const undecryptable = await sandbox.authorize({ body: { 'session-data': forOther } });
      expect(await msgCodeOf(undecryptable)).toBe('b_encryptor_failed_decrypt_message');
      const { jwk } = await sandbox.control<{ jwk: object }>('/recipient-key', { method: 'GET' });
      const text = sealCompact('no JSON', readPublicKey(jwk));
      expect(await msgCodeOf(await sandbox.authorize({ body: { 'session-data': text } }))).toBe('b_invalid_request');
    });

    it('may be missing but not wrong where it is only checked, and is not looked at by default', async () => {
      await sandbox.register({ requestData: 'checked' });
      expect((await sandbox.session()).authToken).toMatch(UUID);
      expect(await msgCodeOf(await sandbox.authorize({ body: { jwe: 'x' } }))).toBe(
        'b_encryptor_failed_decrypt_message',
      );
      await sandbox.register();
      expect((await sandbox.read(await sandbox.authorize({ body: { jwe: 'x' } }))).authToken).toMatch(UUID);
    });
  });

  describe('echo', () => {
    it.each(['full', 'short'])('gives the payload of a session of the %s form back to the client key', async (form) => {
      await sandbox.register({ form });
      const response = await sandbox.echo(await sandbox.session(), {}, 'платёж');
      expect(response.status).toBe(200);
      expect(await sandbox.open(response)).toBe('платёж');
    });

    it('takes a session with a refreshToken without its authToken, as observed clients present it', async () => {
      const session = await sandbox.session();
      expect((await sandbox.echo(session, { authorization: '' })).status).toBe(200);
    });

    it('takes the authToken of a short session from x-auth_token as well', async () => {
      await sandbox.register({ form: 'short' });
      const session = await sandbox.session();
      const response = await sandbox.echo(session, { authorization: '', 'x-auth_token': session.authToken });
      expect(response.status).toBe(200);
    });

    it('refuses a session whose parts come from two', async () => {
      const [first, second] = [await sandbox.session(), await sandbox.session()];
      for (const mixed of [
        { ...first, deviceId: second.deviceId },
        { ...first, authToken: second.authToken },
        { ...first, refreshToken: second.refreshToken ?? '' },
      ]) {
        const response = await sandbox.echo(mixed);
        expect([response.status, await msgCodeOf(response)]).toEqual([401, 'b_unknown_device']);
      }
    });

    it('refuses a payload that is encrypted to the key of another session', async () => {
      const [first, second] = [await sandbox.session(), await sandbox.session()];
      const { serverPublic: _serverPublic, ...rest } = second;
      const response = await sandbox.echo({ ...rest, serverPublicKey: first.serverPublic! });
      expect([response.status, await msgCodeOf(response)]).toEqual([200, 'b_encryptor_failed_decrypt_message']);
    });

    it('refuses a session without its token, and one it does not know', async () => {
      const { refreshToken: _refreshToken, ...bare } = await sandbox.session();
      expect(await msgCodeOf(await sandbox.echo(bare))).toBe('b_refresh_token_absent');
      const unknown = await sandbox.echo({ ...bare, deviceId: sandbox.serviceCode });
      expect([unknown.status, await msgCodeOf(unknown)]).toEqual([401, 'b_unknown_device']);
    });

    it('refuses a session from the moment of its expiry on', async () => {
      await sandbox.register({ lifetimeMs: 60_000 });
      const session = await sandbox.session();
      await clock.advance(59_999);
      expect((await sandbox.echo(session)).status).toBe(200);
      await clock.advance(1);
      const response = await sandbox.echo(session);
      expect([response.status, await msgCodeOf(response)]).toEqual([401, 'b_expired_token']);
    });
  });

  describe('cipher helpers', () => {
    const privateJwk = (): object => ({ ...sandbox.own.privateKey.export({ format: 'jwk' }), use: 'enc' });
    const helper = (name: string, message: string, body: unknown): Promise<Response> =>
      sandbox.send(`/cipher/${name}?message=${encodeURIComponent(message)}`, { body });

    it('encrypt to a public key and decrypt with its private key, as plain text both ways', async () => {
      const sealed = await helper('encrypt_by_jwk', 'карта 4111+1', { ...sandbox.own.jwk, use: 'enc' });
      expect(sealed.headers.get('content-type')).toMatch(/^text\/plain/);
      const opened = await helper('decrypt_by_jwk', await sealed.text(), privateJwk());
      expect(opened.headers.get('content-type')).toMatch(/^text\/plain/);
      expect(await opened.text()).toBe('карта 4111+1');
    });

    it.each<[string, { route: string; msgCode: string; body: () => unknown }]>([
      ['a private key to encrypt with', { route: 'encrypt_by_jwk', msgCode: 'b_invalid_request', body: privateJwk }],
      [
        'a public key to decrypt with',
        { route: 'decrypt_by_jwk', msgCode: 'b_invalid_request', body: () => sandbox.own.jwk },
      ],
      ['no key', { route: 'encrypt_by_jwk', msgCode: 'b_invalid_request', body: () => undefined }],
      [
        'a message that is not a JWE',
        { route: 'decrypt_by_jwk', msgCode: 'b_encryptor_failed_decrypt_message', body: privateJwk },
      ],
    ])('refuse %s', async (_name, { route, msgCode, body }) => {
      const response = await helper(route, 'message', body());
      expect([response.status, await msgCodeOf(response)]).toEqual([400, msgCode]);
    });

    it('refuse a request without a message, or with two', async () => {
      for (const query of ['', '?message=a&message=b']) {
        const response = await sandbox.send(`/cipher/encrypt_by_jwk${query}`, { body: sandbox.own.jwk });
        expect(response.status).toBe(400);
      }
    });
  });
});
