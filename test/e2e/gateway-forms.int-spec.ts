import { SystemClock } from '#libs/clock';
import { GatewayConnections, type MerchantGateway, UndiciSessionGateway } from '#libs/gateway';
import {
  type ClientKey,
  generateClientKey,
  importClientKey,
  importPaymentKey,
  importServerKey,
  sealJwe,
} from '#libs/jwe';
import { GatewayFailure, type IssuedSession, SessionReplica } from '#libs/session';
import { createLogger } from '#libs/telemetry';
import { eventually, LoopbackServer, PATIENT_CALL_MS, SkippingClock, someSettings } from '#libs/testing';
import { startSandbox } from '../../apps/sandbox/src/sandbox.js';
import { sandboxControl } from '../sandbox/sandbox-control.js';
import { json } from 'node:stream/consumers';
import { MemorySessionStore } from '#libs/store';

const LIFETIME_MS = 7_200_000;
const SERVICE_CODE = '137d9304-0368-11ed-b939-0242ac120002';

describe('the gateway client against the played gateway', () => {
  const clock = new SystemClock();
  const connections = new GatewayConnections(clock);
  let sandbox: { url: string; close(): Promise<void> };
  let publicJwk: object;
  let clientKey: ClientKey;

  beforeAll(async () => {
    sandbox = await startSandbox({
      host: '127.0.0.1',
      port: 0,
      clock,
      logger: createLogger({ name: 'sandbox', level: 'error' }),
    });
    const generated = await generateClientKey();
    publicJwk = generated.publicJwk;
    clientKey = await importClientKey(generated.privateJwk);
  });
  afterEach(() => control('DELETE', '/faults'));
  afterAll(async () => {
    await connections.close();
    await sandbox.close();
  });

  function control(method: string, path: string, body?: object): Promise<unknown> {
    return sandboxControl(sandbox.url, { method, path, body });
  }

  async function createSession(merchant: object, gateway: Partial<MerchantGateway> = {}): Promise<IssuedSession> {
    await control('POST', '/merchants', {
      id: 'shop',
      serviceCode: SERVICE_CODE,
      publicJwk,
      lifetimeMs: LIFETIME_MS,
      ...merchant,
    });
    const configured: MerchantGateway = {
      merchant: 'shop',
      serviceCode: SERVICE_CODE,
      clientKeys: [clientKey],
      baseUrl: new URL(sandbox.url),
      environment: 'test',
      timeoutMs: PATIENT_CALL_MS,
      requestData: { attach: 'none' },
      tls: { pins: [] },
      ...gateway,
    };
    const client = new UndiciSessionGateway({ merchants: () => configured, connections, clock });
    return await client.createSession({ merchant: 'shop', signal: new AbortController().signal });
  }

  describe.each(['full', 'short'])('in the %s form', (form) => {
    it.each(['documented', 'padded', 'observed', 'zulu'])(
      'reads the end of a session written as %s',
      async (format) => {
        for (const utcOffsetMinutes of [0, 180, -570]) {
          const issued = await createSession({ form, expiryFormat: format, utcOffsetMinutes });
          const leftMs = (issued.expiresAt ?? 0) - clock.now();
          // Padded milliseconds read as a decimal fraction are up to a second early, which is the safe side.
          expect(leftMs).toBeGreaterThan(LIFETIME_MS / 2);
          expect(leftMs).toBeLessThanOrEqual(LIFETIME_MS);
        }
      },
    );

    it('reads a session that names no end', async () => {
      expect((await createSession({ form, expiryFormat: 'none' })).expiresAt).toBeUndefined();
    });

    it('has every part that the form has', async () => {
      const issued = await createSession({ form });
      expect(issued).toMatchObject({
        authToken: expect.stringMatching(/^[0-9a-f-]{36}$/),
        deviceId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        serverPublic: { kty: 'EC', crv: 'P-384', x: expect.any(String), y: expect.any(String) },
        clientKeyThumbprint: clientKey.thumbprint,
        gatewayDate: expect.any(Number),
      });
      expect(issued.refreshToken !== undefined).toBe(form === 'full');
    });
  });

  it.each(['body', 'header'] as const)(
    'attaches the session request data in the %s, for a gateway that demands it',
    async (attach) => {
      const { jwk } = (await control('GET', '/recipient-key')) as { jwk: unknown };
      const recipient = await importPaymentKey(jwk);
      const name = attach === 'body' ? 'sessionData' : 'x-session_data';
      const demanding = { requestData: 'required', requestDataName: name };
      await expect(createSession(demanding)).rejects.toBeInstanceOf(GatewayFailure);
      const issued = await createSession(demanding, { requestData: { attach, name, recipient } });
      expect(issued.clientKeyThumbprint).toBe(clientKey.thumbprint);
    },
  );

  it.each<[fault: object, kind: string]>([
    [{ kind: 'error', status: 200, msgCode: 'b_auth_token_expired' }, 'revoked'],
    [{ kind: 'hang' }, 'timeout'],
    [{ kind: 'garbage_jwe' }, 'invalid_response'],
  ])('calls a failure by its name: %j', async (fault, kind) => {
    await control('POST', '/faults', fault);
    // None but a gateway that does not answer is given up.
    const failing = createSession({}, kind === 'timeout' ? { timeoutMs: 500 } : {});
    await expect(failing).rejects.toMatchObject({ kind, message: expect.not.stringContaining(SERVICE_CODE) });
  });
});

/** Merchants with one client key, each with its own serviceCode; the last is at another gateway. */
const serviceCodes: Readonly<Record<string, string>> = Object.fromEntries(
  ['card', 'hosted', 'refunds', 'elsewhere'].map((merchant, index) => [
    merchant,
    `137d9304-0368-11ed-b939-0242ac12000${index}`,
  ]),
);
const merchants = Object.keys(serviceCodes);

describe('merchants that share one client key', () => {
  const clock = new SkippingClock();
  const connections = new GatewayConnections(clock);
  const servers: LoopbackServer[] = [];
  const replicas: SessionReplica[] = [];
  /** The serviceCodes that the gateways were called with, and the serviceCode of each token. */
  const asked: string[] = [];
  const ownerOf = new Map<string, string>();
  let tickers: NodeJS.Timeout[] = [];

  afterAll(async () => {
    for (const ticker of tickers) clearInterval(ticker);
    await Promise.all(replicas.map((replica) => replica.stop(0)));
    await connections.close();
    await Promise.all(servers.map((server) => server.close()));
  });

  it('are each served their own sessions on every replica, however their calls cross', async () => {
    const key = await generateClientKey();
    const recipient = await importServerKey(key.publicJwk);
    const { kty, crv, x, y } = key.publicJwk;
    let issued = 0;
    const answer = async (serviceCode: string): Promise<string> => {
      issued += 1;
      const authToken = `00000000-0000-4000-8000-${String(issued).padStart(12, '0')}`;
      ownerOf.set(authToken, serviceCode);
      const deviceId = serviceCode.replace('137d9304', 'deadbeef');
      const content = { authToken, deviceId, serverPublic: { kty, crv, x, y }, ...expiry(clock.now() + LIFETIME_MS) };
      return JSON.stringify({ jwe: await sealJwe(new TextEncoder().encode(JSON.stringify(content)), recipient) });
    };
    const gateways = await Promise.all([0, 1].map(() => crossingGateway(answer, asked)));
    servers.push(...gateways);
    const clientKeys = [await importClientKey(key.privateJwk)];
    const configured = (merchant: string): MerchantGateway => ({
      merchant,
      serviceCode: serviceCodes[merchant] ?? '',
      clientKeys,
      baseUrl: new URL(`http://127.0.0.1:${gateways[merchant === 'elsewhere' ? 1 : 0]?.port}`),
      environment: 'test',
      timeoutMs: PATIENT_CALL_MS,
      requestData: { attach: 'none' },
      tls: { pins: [] },
    });
    const store = new MemorySessionStore({ clock });
    for (const owner of ['replica-1', 'replica-2']) {
      const gateway = new UndiciSessionGateway({ merchants: configured, connections, clock });
      const settings = someSettings({ gatewayTimeoutMs: PATIENT_CALL_MS });
      const replica = new SessionReplica({
        ...{ owner, store, gateway, clock, random: Math.random, events: { emit: () => undefined } },
        merchants: { ids: () => merchants, settingsOf: () => settings, gatewayIdOf: () => 'gateway' },
      });
      replicas.push(replica);
      tickers = [...tickers, setInterval(() => void replica.tick(), 100)];
    }
    const holdsAll = ({ wishes }: SessionReplica): boolean =>
      merchants.every((merchant) => wishes.peek(merchant) !== undefined);
    for (const round of [1, 2, 3]) {
      await eventually(() => asked.length >= round * merchants.length);
      await eventually(() => replicas.every(holdsAll));
      if (round < 3) clock.skip(LIFETIME_MS);
    }
    for (const replica of replicas) {
      for (const merchant of merchants) {
        const session = replica.wishes.peek(merchant)?.session;
        expect(session?.merchant).toBe(merchant);
        expect(ownerOf.get(session?.authToken ?? '')).toBe(serviceCodes[merchant]);
        expect(session?.deviceId).toBe(serviceCodes[merchant]?.replace('137d9304', 'deadbeef'));
      }
    }
    expect(new Set(asked)).toEqual(new Set(Object.values(serviceCodes)));
  });
});

function expiry(atMs: number): { tokenExpirationDateTime: string } {
  const at = new Date(atMs).toISOString();
  return { tokenExpirationDateTime: `${at.slice(0, 10)} ${at.slice(11, 23)} +0000` };
}

/** Holds requests until two have come or a moment has passed, and answers the later one first. */
function crossingGateway(answer: (serviceCode: string) => Promise<string>, asked: string[]): Promise<LoopbackServer> {
  const waiting: (() => void)[] = [];
  const release = (): void =>
    waiting
      .splice(0)
      .reverse()
      .forEach((go) => go());
  return LoopbackServer.http((request, response) => {
    void json(request).then(async (body) => {
      const { serviceCode } = body as { serviceCode: string };
      asked.push(serviceCode);
      const text = await answer(serviceCode);
      waiting.push(() => response.setHeader('content-type', 'application/json').end(text));
      if (waiting.length > 1) release();
      else setTimeout(release, 50);
    });
  });
}
