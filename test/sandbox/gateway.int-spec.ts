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

    const local = '2026-03-18 14:34:52.0990 +0200';
    const offset = '2026-03-18 14:34:52.099+02:00';

    it.each<[string, object]>([
      ['documented', { tokenExpirationDateTime: local }],
      ['all', { tokenExpirationDateTime: local, tokenExpiration: offset, sessionExpiration: offset }],
      ['padded', { tokenExpirationDateTime: '2026-03-18 14:34:52.0099 +0200', tokenExpiration: offset }],
      ['observed', { tokenExpiration: offset }],
      ['zulu', { tokenExpirationDateTime: '2026-03-18 12:34:52.099Z' }],
      ['sessionExpiration', { sessionExpiration: offset }],
      ['none', {}],
    ])('writes the end of a session as %s', async (expiryFormat, expected) => {
      await sandbox.register({ expiryFormat, utcOffsetMinutes: 120 });
      const members = Object.entries(await sandbox.session()).filter(([name]) => /expiration/i.test(name));
      expect(Object.fromEntries(members)).toEqual(expected);
    });

    it('takes x-api_version 1, v1 and V1, or none, and refuses another in an error body under 200', async () => {
      const send = (headers: Readonly<Record<string, string>>): Promise<Response> =>
        sandbox.send(AUTHORIZE, { headers, body: { serviceCode: sandbox.serviceCode } });
      for (const headers of [{}, ...['1', 'v1', 'V1'].map((version) => ({ 'x-api_version': version }))])
        expect((await sandbox.read(await send(headers as Record<string, string>))).authToken).toBeDefined();
      const response = await send({ 'x-api_version': '1.0', 'x-request_id': 'request-7' });
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

    it.each<[string, number, string, string, string]>([
      ['without a service code', 200, 'b_invalid_request', 'application/json', '{}'],
      ['with a service code that is no UUID', 200, 'b_invalid_request', 'application/json', '{"serviceCode":"shop"}'],
      ['that is null', 200, 'b_invalid_request', 'application/json', 'null'],
      ['that is no JSON', 400, 'b_error_parse_json', 'application/json', '{'],
      ['of an unknown type', 415, 'b_invalid_request', 'image/png', 'x'],
      ['that is too large', 413, 'b_invalid_request', 'application/json', '"'.padEnd(300_000, 'a')],
    ])('answers a body %s with %i and %s, and logs the call', async (...[, status, code, type, body]) => {
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

    const sealedData = async (data: object | string): Promise<string> => {
      const { jwk } = await sandbox.control<{ jwk: object }>('/recipient-key', { method: 'GET' });
      return sealCompact(typeof data === 'string' ? data : JSON.stringify(data), readPublicKey(jwk));
    };
    const dataOf = async (data: object | string): Promise<object> => ({ 'session-data': await sealedData(data) });
    const good = (): object => ({ deviceType: 'ECOM_MERCHANT_SERVICE_DEVICE', clientPublicKey: sandbox.own.jwk });

    it('is taken from the body and from the header of its name', async () => {
      await sandbox.register(required);
      const data = { 'session-data': await sealedData(good()) };
      for (const place of [{ body: data }, { headers: data }])
        expect((await sandbox.read(await sandbox.authorize(place))).authToken).toMatch(UUID);
    });

    it.each<[string, string, () => Promise<object> | object]>([
      ['is missing', 'b_invalid_request', () => ({})],
      ['is of another device type', 'b_invalid_request', () => dataOf({ ...good(), deviceType: 'PHONE' })],
      [
        'is of another client key',
        'b_invalid_request',
        () => dataOf({ ...good(), clientPublicKey: generateKeyPair().jwk }),
      ],
      [
        'cannot be decrypted',
        'b_encryptor_failed_decrypt_message',
        () => ({ 'session-data': sealCompact(JSON.stringify(good()), generateKeyPair()) }),
      ],
      ['is not JSON', 'b_invalid_request', () => dataOf('no JSON')],
    ])('is refused where it is due and %s', async (_name, msgCode, body) => {
      await sandbox.register(required);
      const response = await sandbox.authorize({ body: await body() });
      expect([response.status, await msgCodeOf(response)]).toEqual([200, msgCode]);
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

    it('takes a session with a refreshToken without its authToken, and that of a short session by x-auth_token', async () => {
      expect((await sandbox.echo(await sandbox.session(), { authorization: '' })).status).toBe(200);
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
    it.each<[string, string, string, () => unknown]>([
      ['a private key to encrypt with', 'encrypt_by_jwk?message=m', 'b_invalid_request', privateJwk],
      ['a public key to decrypt with', 'decrypt_by_jwk?message=m', 'b_invalid_request', () => sandbox.own.jwk],
      ['no key', 'encrypt_by_jwk?message=m', 'b_invalid_request', () => undefined],
      ['no JWE', 'decrypt_by_jwk?message=m', 'b_encryptor_failed_decrypt_message', privateJwk],
      ['no message', 'encrypt_by_jwk', 'b_invalid_request', () => sandbox.own.jwk],
      ['two messages', 'encrypt_by_jwk?message=a&message=b', 'b_invalid_request', () => sandbox.own.jwk],
    ])('refuse %s', async (...[, route, msgCode, body]) => {
      const response = await sandbox.send(`/cipher/${route}`, { body: body() });
      expect([response.status, await msgCodeOf(response)]).toEqual([400, msgCode]);
    });
  });
});
