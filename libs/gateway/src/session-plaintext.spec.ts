import { inspect } from 'node:util';
import { GatewayFailure, type IssuedSession } from '#libs/session';
import {
  anAnswer,
  aParty,
  AUTH_TOKEN,
  DEVICE_ID,
  RECEIVED_AT,
  serverPublicOf,
  sessionFields,
  type TestParty,
} from './gateway-fixtures.js';
import { parseMoment } from './expiry.js';
import { issue } from './undici-session-gateway.js';
import fc from 'fast-check';

const CANARY = '5ec2e700-0000-4000-8000-000000000000';
const FUTURE = '2026-01-01 00:15:00.0000 +0000';

describe('the session in an answer', () => {
  let merchant: TestParty;
  let older: TestParty;
  let server: TestParty;
  beforeAll(async () => {
    [merchant, older, server] = await Promise.all([aParty(), aParty(), aParty()]);
  });

  const issueFrom = async (content: unknown, sealedTo = merchant): Promise<IssuedSession> =>
    issue(anAnswer({ jwe: await sealedTo.seal(content) }), { clientKeys: [merchant.key, older.key] });

  const failureOf = async (content: unknown): Promise<GatewayFailure> => {
    try {
      await issueFrom(content);
    } catch (error) {
      if (error instanceof GatewayFailure) return error;
      throw error;
    }
    throw new Error('the content was taken for a session');
  };

  it('is read in the form with serverPublic, refreshToken and tokenExpirationDateTime', async () => {
    const fields = { ...sessionFields(server), refreshToken: CANARY, tokenExpirationDateTime: FUTURE };
    expect(await issueFrom(fields)).toEqual({
      authToken: AUTH_TOKEN,
      deviceId: DEVICE_ID,
      refreshToken: CANARY,
      serverPublic: serverPublicOf(server),
      clientKeyThumbprint: merchant.key.thumbprint,
      expiresAt: parseMoment(FUTURE),
      sentAt: RECEIVED_AT,
      receivedAt: RECEIVED_AT,
    });
  });

  it('is read in the form with serverPublicKey, unknown fields and nothing else', async () => {
    const fields = {
      authToken: AUTH_TOKEN,
      deviceId: DEVICE_ID,
      serverPublicKey: { ...serverPublicOf(server), use: 'enc', kid: 'bank-7' },
      refreshToken: null,
      sessionExpiration: 'who knows',
      more: [1],
    };
    const session = await issueFrom(fields);
    expect(session.serverPublic).toEqual(serverPublicOf(server));
    expect('refreshToken' in session || 'expiresAt' in session).toBe(false);
  });

  it('is read when one key comes under both names', async () => {
    const fields = { ...sessionFields(server), serverPublicKey: { ...serverPublicOf(server), use: 'enc' } };
    expect((await issueFrom(fields)).serverPublic).toEqual(serverPublicOf(server));
  });

  it('tells which client key opened it', async () => {
    expect((await issueFrom(sessionFields(server), older)).clientKeyThumbprint).toBe(older.key.thumbprint);
  });

  it('is refused when two keys come under the two names', async () => {
    const failure = await failureOf({ ...sessionFields(server), serverPublicKey: serverPublicOf(older) });
    expect(failure).toMatchObject({ kind: 'invalid_response', httpStatus: 200 });
    expect(failure.detail).toMatch('two different keys');
  });

  it.each([
    ['no authToken', { authToken: undefined }, 'authToken'],
    ['an authToken that is not a UUID', { authToken: `${CANARY}0` }, 'authToken'],
    ['a numeric deviceId', { deviceId: 7 }, 'deviceId'],
    ['a refreshToken that is not a UUID', { refreshToken: 'x' }, 'refreshToken'],
    ['no key', { serverPublic: undefined }, 'serverPublic'],
    ['a key that is a string', { serverPublic: 'x' }, 'serverPublic'],
    ['an expiry that does not parse', { tokenExpiration: CANARY }, 'tokenExpiration'],
  ])('is refused with %s, named in the detail', async (_what, change, field) => {
    const failure = await failureOf({ ...sessionFields(server), ...change });
    expect(failure.kind).toBe('invalid_response');
    expect(failure.detail).toContain(field);
  });

  it('is refused with a server key off the curve', async () => {
    const serverPublic = { ...serverPublicOf(server), y: 'A'.repeat(64) };
    const failure = await failureOf({ ...sessionFields(server), serverPublic });
    expect(failure.kind).toBe('invalid_response');
    expect(failure.detail).toContain('serverPublic');
  });

  it('is refused when it is sealed to somebody else, damaged, or not a JWE', async () => {
    const jwe = await server.seal(sessionFields(server));
    const ours = await merchant.seal(sessionFields(server));
    for (const wrong of [jwe, ours.slice(0, -8), CANARY]) {
      const failing = issue(anAnswer({ jwe: wrong }), { clientKeys: [merchant.key] });
      await expect(failing).rejects.toMatchObject({ kind: 'invalid_response' });
    }
  });

  it('is refused, whatever its plaintext, with a failure that quotes none of it', async () => {
    const value = fc.oneof(
      fc.constantFrom<unknown>(CANARY, [CANARY], { kty: CANARY, x: CANARY, d: CANARY }),
      fc.jsonValue(),
    );
    const fields = fc.record(
      {
        authToken: value,
        deviceId: value,
        refreshToken: value,
        serverPublic: value,
        serverPublicKey: value,
        tokenExpiration: value,
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(fields, value, fc.uint8Array()), async (content) => {
        const failure = await failureOf(content);
        expect(failure.kind).toBe('invalid_response');
        expect(inspect(failure, { depth: null, showHidden: true })).not.toContain(CANARY);
      }),
    );
  });
});
