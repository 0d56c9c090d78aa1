import { CREATE, PATHS, type Route, ROUTES } from './callers.js';
import { type HostileGateway, outcomeOf } from './hostile-gateway.js';
import type { PlayedBroker } from './played-broker.js';
import { PlayedStage } from './played-stage.js';
import { exchange, type RawAnswer, RawConnection } from './raw-exchange.js';
import { aClient, RunningEgress } from './running-egress.js';
import { endedAfterAll, eventually, TestAuthority, type TestCertificate } from '#libs/testing';
import { openCompact } from '../../apps/sandbox/src/crypto/compact-jwe.js';
import { type Answer, type Call, call } from '../e2e/call.js';
import { RunningBroker } from '../e2e/running-broker.js';

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

  it('nobody without a credential, with one that is not quite right, or with two: which counts could be read in two ways', async () => {
    const [{ token }, kiosk] = [egress.client(), egress.client('kiosk')];
    const { deviceId, refreshToken } = await egress.alias('shop').session();
    const another = await egress.alias('kiosk').session();
    await egress.plain('shop').pay('clear', {});
    const [ofTheBank] = broker.sessions;
    await gateway.script();
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
      [...bearer(token), ...bearer(kiosk.token)],
      [...bearer('of-nobody'), ...bearer(token)],
      [...bearer('of-nobody'), ...(await egress.alias('kiosk').presented())],
      ['x-device_id', deviceId],
      ['x-refresh_token', refreshToken],
      ['x-device_id', deviceId, 'x-device_id', another.deviceId, 'x-refresh_token', refreshToken],
      ['x-device_id', deviceId, 'x-refresh_token', refreshToken, 'x-refresh_token', another.refreshToken],
      // The session of the bank is worth nothing here.
      ['x-device_id', ofTheBank?.deviceId ?? '', 'x-refresh_token', ofTheBank?.refreshToken ?? ''],
      bearer(ofTheBank?.authToken ?? ''),
    ];
    for (const headers of attempts) for (const route of ROUTES) refused(await send(headers, route));
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

  it.each(['shop', 'kiosk'])('%s pays as its own merchant, in both forms, whatever it says of one', async (name) => {
    const { merchant } = egress.client(name);
    const headers = ['x-merchant', 'other', 'x-client', 'kiosk', 'x-merchant-id', 'other'];
    for (const caller of [egress.plain(name), egress.alias(name)])
      for (const route of ROUTES) {
        await gateway.script();
        const path = `${PATHS[route]}?merchant=other`;
        expect(outcomeOf(await caller.pay(route, { merchant: 'other' }, { headers, path }))).toBe('good');
        expect(gateway.seen.map((request) => gateway.sessionOf(request)?.merchant)).toEqual([merchant]);
      }
  });
});

const EGRESS = 'spiffe://shop.example/egress';
const TILL = 'spiffe://shop.example/till';
const KIOSK = 'spiffe://shop.example/kiosk';
const OPERATIONS = '/ecom/execute_request/hpp/v1/operations';

const ORDER = { hppOrderId: 'order-of-nobody' };

/**
 * Certificates instead of tokens, on both sides of an egress: its clients present them to it, and it to a real broker.
 */
describe('an egress among certificates', () => {
  const authority = new TestAuthority();
  const ca = authority.cert;
  const server = authority.issue({ names: ['127.0.0.1'] });
  const [till, kiosk] = [authority.issue({ names: [TILL] }), authority.issue({ names: [KIOSK] })];
  const clients = [
    { ...aClient('till'), certificate: TILL },
    { ...aClient('kiosk'), certificate: KIOSK },
  ];
  let broker: RunningBroker;
  let egress: RunningEgress;

  const started = endedAfterAll();
  beforeAll(async () => {
    broker = started.add(
      await RunningBroker.start({
        http: 'tls: { certFile: tls.crt, keyFile: tls.key, clientCaFile: ca.pem }',
        auth: ['mtls: true'],
        callers: [EGRESS],
        files: { 'tls.crt': server.cert, 'tls.key': server.key, 'ca.pem': ca },
      }),
      (it) => it.close(),
    );
    const listenTls = { cert: server.cert, key: server.key, clientCa: ca };
    const brokerTls = { ca, ...authority.issue({ names: [EGRESS] }) };
    const around = { broker: { url: broker.url, token: '' }, gatewayUrl: broker.sandboxUrl };
    egress = started.add(await RunningEgress.start({ ...around, brokerTls, clients, listenTls }), (it) => it.close());
    await eventually(async () => (await fetch(`${egress.managementUrl}/readyz`)).ok);
  });

  const send = (
    client: TestCertificate | undefined,
    { path = OPERATIONS, headers = {}, body = ORDER }: Call & { readonly path?: string } = {},
  ): Promise<Answer> => call(egress.url + path, { ca, ...client, body, headers });

  const aliasHeaders = async (): Promise<Record<string, string>> => {
    const { serviceCode, key } = egress.client('till');
    const { body } = await send(undefined, { path: CREATE, body: { serviceCode } });
    const session = JSON.parse(openCompact(String(body['jwe']), key).toString()) as Record<string, string>;
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
