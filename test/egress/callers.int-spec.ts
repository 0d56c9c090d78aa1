import { randomUUID } from 'node:crypto';
import { AliasCaller, CREATE, PATHS, PlainCaller, type Route } from './callers.js';
import { type HostileGateway, PAID } from './hostile-gateway.js';
import { outcomeOf } from './outcome.js';
import type { PlayedBroker } from './played-broker.js';
import { PlayedStage } from './played-stage.js';
import { exchange, type RawAnswer, RawConnection } from './raw-exchange.js';
import { aClient, anAliasKey, ROUTES as EGRESS_ROUTES, type RunningEgress } from './running-egress.js';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '#libs/clock';
import type { EgressClient, EgressConfiguration } from '#libs/configuration';
import { importPaymentKey } from '#libs/jwe';
import { createLogger } from '#libs/telemetry';
import { eventually, PATIENT_CALL_MS, TestAuthority, type TestCertificate } from '#libs/testing';
import { startEgress } from '../../apps/egress/src/egress.js';
import { generateKeyPair, type KeyPair } from '../../apps/sandbox/src/crypto/ec-key.js';
import { openCompact } from '../../apps/sandbox/src/crypto/compact-jwe.js';
import { RunningBroker } from '../e2e/running-broker.js';

const ROUTES: readonly Route[] = ['clear', 'sealed'];
const GOOD = { good: JSON.stringify(PAID) };

describe('who may use the egress', () => {
  let stage: PlayedStage;
  let broker: PlayedBroker;
  let gateway: HostileGateway;
  let egress: RunningEgress;

  beforeAll(async () => {
    const clients = [aClient('shop', 'shop'), aClient('till', 'shop'), aClient('kiosk', 'other')];
    stage = await PlayedStage.start({ clients });
    ({ broker, gateway, egress } = stage);
  });
  beforeEach(() => gateway.script());
  afterAll(() => stage.close());

  const send = (headers: readonly string[], route: Route = 'clear'): Promise<RawAnswer> =>
    exchange(egress.url, { path: PATHS[route], headers: ['content-type', 'application/json', ...headers], body: '{}' });
  const bearer = (token: string): readonly string[] => ['authorization', `Bearer ${token}`];
  const refused = (given: RawAnswer): void => {
    expect([400, 401]).toContain(given.status);
    expect(gateway.seen).toEqual([]);
  };

  it('nobody without a credential, or with one that is not quite right', async () => {
    const { token } = egress.client();
    const attempts = [
      [],
      bearer(''),
      bearer('of-nobody'),
      bearer(`${token}x`),
      bearer(token.slice(0, -1)),
      ['authorization', `Basic ${Buffer.from(`shop:${token}`).toString('base64')}`],
      ['authorization', token],
      ['x-authorization', `Bearer ${token}`],
      ['cookie', `authorization=Bearer ${token}`],
    ];
    for (const headers of attempts) for (const route of ROUTES) refused(await send(headers, route));
  });

  it('nobody by two credentials: which of them counts could be read in two ways', async () => {
    const [shop, kiosk] = [egress.client('shop'), egress.client('kiosk')];
    refused(await send([...bearer(shop.token), ...bearer(kiosk.token)]));
    refused(await send([...bearer('of-nobody'), ...bearer(shop.token)]));
    const alias = await egress.alias('kiosk').presented();
    const given = await send([...bearer('of-nobody'), ...alias]);
    refused(given);
  });

  it('nobody by a token with the alias session of another client, though of the same merchant', async () => {
    const token = bearer(egress.client('shop').token);
    refused(await send([...token, ...(await egress.alias('till').presented())]));
    expect((await send([...token, ...(await egress.alias('shop').presented())])).status).toBe(200);
  });

  it('an alias client whose headers have hyphens in place of underscores', async () => {
    const { deviceId, refreshToken } = await egress.alias('shop').session();
    const hyphens = ['X-Device-Id', deviceId, 'X-Refresh-Token', refreshToken];
    expect((await send(hyphens)).status).toBe(200);
    await gateway.script();
    refused(await send([...hyphens, ...(await egress.alias('till').presented())]));
  });

  it('whoever shows nothing is told so in both forms, and which proxy may have taken it away; the log says it once', async () => {
    const hint = 'underscores_in_headers on';
    for (const headers of [[], ['x-refresh-token', (await egress.alias('shop').session()).refreshToken]]) {
      const given = await send(headers);
      expect([given.status, JSON.parse(given.body.toString())]).toEqual([
        401,
        expect.objectContaining({
          ...{ code: 'unauthenticated', detail: expect.stringContaining(hint), serviceId: 'session-egress' },
          ...{ msgType: 'ERROR', msgCode: 'b_used_token', msgText: expect.stringContaining(hint) },
        }),
      ]);
    }
    expect(egress.lines.filter((line) => line.includes('"warn"') && line.includes(hint))).toHaveLength(1);
  });

  it('what is no HTTP is refused in both forms', async () => {
    const connection = await RawConnection.to(egress.url);
    connection.write('nonsense\r\n\r\n');
    await eventually(() => connection.isClosed);
    expect(connection.received).toContain('"code":"invalid_request"');
    expect(connection.received).toContain('"msgCode":"invalid_request","msgType":"ERROR"');
  });

  it.each(['shop', 'kiosk'])('%s pays as its own merchant, in both forms', async (name) => {
    const { merchant } = egress.client(name);
    for (const caller of [egress.plain(name), egress.alias(name)])
      for (const route of ROUTES) {
        await gateway.script();
        expect(outcomeOf(await caller.pay(route, {}), GOOD)).toBe('good');
        expect(gateway.seen.map((request) => gateway.sessionOf(request)?.merchant)).toEqual([merchant]);
      }
  });

  it('nobody names a merchant: what a request says of one changes nothing', async () => {
    const headers = ['x-merchant', 'other', 'x-client', 'kiosk', 'x-merchant-id', 'other'];
    const path = `${PATHS.clear}?merchant=other`;
    expect(outcomeOf(await egress.plain('shop').pay('clear', { merchant: 'other' }, { headers, path }), GOOD)).toBe(
      'good',
    );
    expect(gateway.seen.map((request) => gateway.sessionOf(request)?.merchant)).toEqual(['shop']);
  });

  it('an alias session is good for its client alone', async () => {
    const shop = await egress.alias('shop').session();
    const till = await egress.alias('till').session();
    const kiosk = await egress.alias('kiosk').session();
    expect(new Set([shop, till, kiosk].map(({ deviceId }) => deviceId)).size).toBe(3);
    expect(new Set([shop, till, kiosk].map(({ refreshToken }) => refreshToken)).size).toBe(3);
    const pairs = [
      [shop.deviceId, till.refreshToken],
      [kiosk.deviceId, shop.refreshToken],
      [shop.deviceId, shop.authToken],
      [shop.refreshToken, shop.deviceId],
      [shop.deviceId, ''],
      [randomUUID(), randomUUID()],
    ];
    for (const [deviceId = '', refreshToken = ''] of pairs) {
      const given = await send(['x-api_version', 'V1', 'x-device_id', deviceId, 'x-refresh_token', refreshToken]);
      expect([given.status, JSON.parse(given.body.toString())]).toEqual([
        401,
        expect.objectContaining({ msgCode: 'b_used_token' }),
      ]);
    }
    expect(gateway.seen).toEqual([]);
  });

  it('an alias session of which a part is missing or said twice is none', async () => {
    const { deviceId, refreshToken } = await egress.alias('shop').session();
    const kiosk = await egress.alias('kiosk').session();
    const attempts = [
      ['x-device_id', deviceId],
      ['x-refresh_token', refreshToken],
      ['x-device_id', deviceId, 'x-device_id', kiosk.deviceId, 'x-refresh_token', refreshToken],
      ['x-device_id', deviceId, 'x-refresh_token', refreshToken, 'x-refresh_token', kiosk.refreshToken],
    ];
    for (const headers of attempts) refused(await send(headers));
  });

  it('the session of the bank is worth nothing at the egress', async () => {
    await egress.plain('shop').pay('clear', {});
    const session = broker.sessions[0];
    await gateway.script();
    const { deviceId = '', refreshToken = '', authToken = '' } = session ?? {};
    refused(await send(['x-device_id', deviceId, 'x-refresh_token', refreshToken]));
    refused(await send(bearer(authToken)));
  });

  it('an answer for an alias client is sealed to its own key, whoever holds its session', async () => {
    const shop = egress.client('shop');
    const strangers = new AliasCaller(egress.url, { serviceCode: shop.serviceCode, key: aClient().key });
    await expect(strangers.session()).rejects.toThrow();
    strangers.take(await egress.alias('shop').session());
    await expect(strangers.pay('sealed', {})).rejects.toThrow();
  });

  it('an alias that nobody has gets no session, and is not told why', async () => {
    const nobody = new AliasCaller(egress.url, { serviceCode: randomUUID(), key: aClient().key });
    const given = await nobody.create();
    expect([given.status, given.code]).toEqual([200, 'b_merchant_not_found']);
    expect(gateway.seen).toEqual([]);
  });

  it('the alias may be in the query, as published clients send it', async () => {
    const { serviceCode } = egress.client('shop');
    for (const body of [undefined, '{}', '']) {
      const headers = ['x-api_version', 'V1', 'content-type', 'application/json'];
      const path = `${CREATE}?serviceCode=${serviceCode}`;
      const given = await exchange(egress.url, { path, headers, ...(body === undefined ? {} : { body }) });
      expect(JSON.parse(given.body.toString())).toEqual({ jwe: expect.any(String) });
    }
    expect(gateway.seen).toEqual([]);
  });

  it('an alias session stays the same for its client, and tells nothing of the bank', async () => {
    const [first, second] = [await egress.alias('shop').session(), await egress.alias('shop').session()];
    const parts = ({ deviceId, refreshToken, authToken, serverPublic }: typeof first): unknown => [
      deviceId,
      refreshToken,
      authToken,
      serverPublic,
    ];
    expect(parts(second)).toEqual(parts(first));
    broker.renew();
    expect(parts(await egress.alias('shop').session())).toEqual(parts(first));
    const text = JSON.stringify(first);
    for (const session of broker.sessions)
      for (const secret of [session.deviceId, session.refreshToken, session.authToken, session.serverKey.jwk.x])
        expect(text).not.toContain(secret);
  });

  it('a refusal repeats nothing of what was presented', async () => {
    const token = `of-nobody-${randomUUID()}`;
    const given = await new PlainCaller(egress.url, token).pay('clear', {});
    expect(JSON.stringify([given.rawHeaders, given.text])).not.toContain(token);
  });
});

const EGRESS = 'spiffe://shop.example/egress';
const TILL = 'spiffe://shop.example/till';
const KIOSK = 'spiffe://shop.example/kiosk';
const ALIAS = '9d7a2c51-6f0e-4f2b-9b7e-3c1d5a8e4f60';
const OPERATIONS = '/ecom/execute_request/hpp/v1/operations';

const ORDER = { hppOrderId: 'order-of-nobody' };

interface Sending {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

interface Answer {
  readonly status: number | undefined;
  readonly body: Record<string, unknown>;
}

/**
 * Certificates instead of tokens, on both sides of an egress: its clients present them to it, and it to a real broker.
 */
describe('an egress among certificates', () => {
  const authority = new TestAuthority();
  const server = authority.issue({ names: ['127.0.0.1'] });
  const own = authority.issue({ names: [EGRESS] });
  const till = authority.issue({ names: [TILL] });
  const kiosk = authority.issue({ names: [KIOSK] });
  const tillKey: KeyPair = generateKeyPair();
  let broker: RunningBroker;
  let folder: string;
  let egress: Awaited<ReturnType<typeof startEgress>>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'session-egress-'));
    broker = await RunningBroker.start({
      http: 'tls: { certFile: tls.crt, keyFile: tls.key, clientCaFile: ca.pem }',
      auth: ['mtls: true'],
      callers: [EGRESS],
      files: { 'tls.crt': server.cert, 'tls.key': server.key, 'ca.pem': authority.cert },
    });
    egress = await startEgress({
      configuration: await configuration(),
      clock: new SystemClock(),
      logger: createLogger({ name: 'egress', level: 'error' }),
    });
    await eventually(async () => (await fetch(`${egress.managementUrl}/readyz`)).ok);
  });
  afterAll(async () => {
    await egress.close();
    await broker.close();
    await rm(folder, { recursive: true });
  });

  async function configuration(): Promise<EgressConfiguration> {
    const publicKey = await importPaymentKey(tillKey.jwk);
    const clients: EgressClient[] = [
      { name: 'till', merchant: 'shop', tokenDigests: [], certificate: TILL, alias: { serviceCode: ALIAS, publicKey } },
      { name: 'kiosk', merchant: 'shop', tokenDigests: [], certificate: KIOSK },
    ];
    return {
      listen: {
        host: '127.0.0.1',
        port: 0,
        connections: { max: 100, perAddress: 100 },
        tls: { cert: server.cert, key: server.key, clientCa: authority.cert },
      },
      management: { host: '127.0.0.1', port: 0, hosts: [] },
      broker: { url: new URL(broker.url), tls: { ca: authority.cert, cert: own.cert, key: own.key } },
      gateway: {
        baseUrl: new URL(broker.sandboxUrl),
        environment: 'test',
        timeoutMs: PATIENT_CALL_MS,
        passedHeaders: [],
        tls: { pins: [] },
      },
      aliasKeys: [await anAliasKey()],
      clients,
      routes: EGRESS_ROUTES,
      audit: { destination: 'none' },
      reload: { watch: false, everyMs: 60_000, maxRemoved: 10 },
      log: { level: 'error' },
      files: [],
      certificates: [],
      warnings: [],
    };
  }

  const send = (
    client: TestCertificate | undefined,
    { path = OPERATIONS, headers = {}, body = ORDER }: Sending = {},
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const identity = client === undefined ? {} : { cert: client.cert, key: client.key };
      const agent = new Agent({ ca: authority.cert, ...identity });
      const all = { 'content-type': 'application/json', ...headers };
      request(egress.url + path, { agent, method: 'POST', headers: all }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => {
          agent.destroy();
          resolve({ status: response.statusCode, body: JSON.parse(text) as Record<string, unknown> });
        });
      })
        .on('error', reject)
        .end(JSON.stringify(body));
    });

  const aliasHeaders = async (): Promise<Record<string, string>> => {
    const { body } = await send(undefined, { path: CREATE, body: { serviceCode: ALIAS } });
    const session = JSON.parse(openCompact(String(body['jwe']), tillKey).toString()) as Record<string, string>;
    return { 'x-device_id': session['deviceId'] ?? '', 'x-refresh_token': session['refreshToken'] ?? '' };
  };

  /** The bank knows the session, but not the order. */
  const KNOWN_AT_THE_BANK = { body: { msgCode: 'b_hpp_order_not_found' } };

  it('gets its session by its own certificate, and lets a client in by that of the client', async () => {
    const calls = await broker.createCalls();
    expect(await send(till)).toMatchObject(KNOWN_AT_THE_BANK);
    expect(await broker.createCalls()).toBe(calls);
  });

  const nobody: Record<string, () => TestCertificate | undefined> = {
    'without a certificate': () => undefined,
    'with one of another authority': () => new TestAuthority().issue({ names: [TILL] }),
    'with an expired one': () => authority.issue({ names: [TILL], notAfter: new Date(Date.now() - 60_000) }),
    'with the certificate of nobody among its clients': () => authority.issue({ names: ['spiffe://shop.example/x'] }),
  };

  it.each(Object.entries(nobody))('lets nobody in %s', async (_what, make) => {
    expect(await send(make())).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
  });

  it('takes an alias session by itself and beside its own certificate, and from nobody with another one', async () => {
    const headers = await aliasHeaders();
    expect(await send(undefined, { headers })).toMatchObject(KNOWN_AT_THE_BANK);
    expect(await send(till, { headers })).toMatchObject(KNOWN_AT_THE_BANK);
    expect(await send(kiosk, { headers })).toMatchObject({ status: 401, body: { msgCode: 'b_used_token' } });
  });
});
