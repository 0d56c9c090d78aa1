import { GatewayFailure } from '#libs/session';
import { FakeClock, LoopbackServer } from '#libs/testing';
import { GatewayConnections } from './gateway-connections.js';
import { aMerchantGateway, aParty, AUTH_TOKEN, DEVICE_ID, serverPublicOf, type TestParty } from './gateway-fixtures.js';
import { inspectSession, type SessionInspection } from './session-inspection.js';

const clock = new FakeClock();
let merchant: TestParty;
let bank: TestParty;

beforeAll(async () => {
  [merchant, bank] = await Promise.all([aParty(), aParty()]);
});

async function inspect(content: unknown, calls: string[] = []): Promise<SessionInspection> {
  const body = JSON.stringify({ jwe: await merchant.seal(content) });
  const server = await LoopbackServer.http((request, response) => {
    calls.push(`${request.method} ${request.url}`);
    response.end(body);
  });
  const connections = new GatewayConnections(clock);
  const gateway = aMerchantGateway(merchant, { baseUrl: new URL(`http://127.0.0.1:${server.port}`) });
  try {
    return await inspectSession({ connections, clock }, { gateway, signal: new AbortController().signal });
  } finally {
    await connections.close();
    await server.close();
  }
}

const tokens = { authToken: AUTH_TOKEN, deviceId: DEVICE_ID };

describe('an inspected session', () => {
  it('is one call, and tells form and field names', async () => {
    const calls: string[] = [];
    const full = {
      ...tokens,
      refreshToken: AUTH_TOKEN,
      serverPublic: serverPublicOf(bank),
      tokenExpirationDateTime: '2026-01-01 00:15:00.0000 +0000',
      theirs: 'canary',
    };
    const inspection = await inspect(full, calls);
    expect(calls).toEqual(['POST /api-gateway/authorize_virtual_device']);
    expect(inspection).toMatchObject({
      form: 'full',
      fields: [...Object.keys(tokens), 'refreshToken', 'serverPublic', 'tokenExpirationDateTime', 'theirs'],
      unnamed: 0,
      session: { authToken: AUTH_TOKEN, expiresAt: Date.UTC(2026, 0, 1, 0, 15) },
    });
  });

  it('tells the short form from one that is neither', async () => {
    const key = serverPublicOf(bank);
    expect((await inspect({ ...tokens, serverPublicKey: key })).form).toBe('short');
    expect((await inspect({ ...tokens, serverPublicKey: key, refreshToken: AUTH_TOKEN })).form).toBe('mixed');
    expect((await inspect(tokens)).form).toBe('mixed');
  });

  it('shows no name that could be more than one', async () => {
    const inspection = await inspect({ ...tokens, serverPublicKey: serverPublicOf(bank), 'a name\nof lines': 1 });
    expect(inspection).toMatchObject({ unnamed: 1, fields: ['authToken', 'deviceId', 'serverPublicKey'] });
  });

  it('is reported even when it is not usable, with the reason', async () => {
    const { fields, session } = await inspect({ ...tokens, serverPublic: { kty: 'EC' } });
    expect(fields).toContain('serverPublic');
    expect(session).toBeInstanceOf(GatewayFailure);
  });

  it('has no fields when it is not an object', async () => {
    expect(await inspect([1])).toMatchObject({ fields: [], session: { kind: 'invalid_response' } });
  });
});
