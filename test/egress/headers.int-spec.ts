import { randomUUID } from 'node:crypto';
import { type Caller, PATHS, type Route } from './callers.js';
import { answer, type HostileGateway, PAID } from './hostile-gateway.js';
import { outcomeOf } from './outcome.js';
import type { PlayedBroker } from './played-broker.js';
import { PlayedStage } from './played-stage.js';
import type { RunningEgress } from './running-egress.js';
import { type ClientEvent, SessionBroker } from '#libs/client';
import { eventually } from '#libs/testing';
import { RawConnection } from './raw-exchange.js';

const ROUTES: readonly Route[] = ['clear', 'sealed'];
const GOOD = { good: JSON.stringify(PAID) };

/** Headers that a payment does not need: for the egress, one connection, a server in between, or of another body. */
const NOT_FOR_THE_BANK = [
  ['X-Original-URL', '/elsewhere/original'],
  ['X-Unknown', 'whatever-it-says'],
  ['Proxy-Authorization', 'Basic c2VjcmV0LW9mLWEtcHJveHk='],
  ['Cookie', 'shop=secret-of-a-cookie'],
  ['X-Forwarded-For', '192.0.2.61'],
  ['Accept-Encoding', 'gzip, br'],
  ['X-Named-By-Connection', 'only-for-one-hop'],
  ['Connection', 'close, X-Named-By-Connection'],
] as const;

/** Headers of a session, or claiming to be, in various spellings. */
const FORGED = [
  ['X-Api_Version', '9'],
  ['X-DEVICE_ID', randomUUID()],
  ['x-refresh_token', randomUUID()],
  ['X-Refresh-Token', randomUUID()],
] as const;

const NOT_FOR_THE_CLIENT = [
  'Set-Cookie: waf=secret-of-the-firewall; Path=/',
  'Set-Cookie: second=cookie',
  'Keep-Alive: timeout=72',
  'Proxy-Authenticate: Basic',
  'Upgrade: h2c',
  'X-Named-By-Connection: of-one-hop',
  'Connection: keep-alive, X-Named-By-Connection',
  'X-Device_Id: of-the-bank',
  'X-Refresh_Token: of-the-bank',
];

describe('the headers of a payment', () => {
  let stage: PlayedStage;
  let broker: PlayedBroker;
  let gateway: HostileGateway;
  let egress: RunningEgress;
  let callers: readonly Caller[];

  beforeAll(async () => {
    stage = await PlayedStage.start();
    ({ broker, gateway, egress } = stage);
    callers = egress.callers();
  });
  afterAll(() => stage.close());

  it.each(ROUTES)(
    'reach the gateway without what is for the egress, for one connection or of the network: %s',
    async (route) => {
      for (const caller of callers) {
        await gateway.script();
        expect(outcomeOf(await caller.pay(route, {}, { headers: NOT_FOR_THE_BANK.flat() }), GOOD)).toBe('good');
        const [request] = gateway.seen;
        const values = NOT_FOR_THE_BANK.map(([, value]) => value).filter((value) => value.length > 8);
        expect([...caller.secrets, ...values].filter((secret) => request?.text.includes(secret))).toEqual([]);
        expect(request?.headerNames).not.toContain('x-named-by-connection');
        expect(request?.headerNames).not.toContain('authorization');
        expect(request?.headerNames.filter((name) => name.startsWith('x-forwarded') || name === 'via')).toEqual([]);
        expect(request?.valuesOf('accept-encoding')).toEqual(['identity']);
        expect(request?.valuesOf('host')).toEqual([new URL(gateway.url).host]);
      }
    },
  );

  it.each(ROUTES)('are those of one session, whatever the client sends in their place: %s', async (route) => {
    const plain = egress.plain();
    await gateway.script();
    expect(outcomeOf(await plain.pay(route, {}, { headers: [...FORGED.flat(), ...FORGED.flat()] }), GOOD)).toBe('good');
    const [request] = gateway.seen;
    const session = request && gateway.sessionOf(request);
    expect(session).toBeDefined();
    expect(request?.valuesOf('x-api_version')).toEqual(['V1']);
    expect(request?.valuesOf('x-device_id')).toEqual([session?.deviceId]);
    expect(request?.valuesOf('x-refresh_token')).toEqual([session?.refreshToken]);
    expect(FORGED.filter(([, value]) => value.length > 1 && request?.text.includes(value))).toEqual([]);
    expect(request?.text).not.toContain(session?.authToken);
  });

  it('are besides those that the configuration names', async () => {
    await egress.reconfigure((before) => ({
      ...before,
      gateway: { ...before.gateway, passedHeaders: ['x-bank-channel'] },
    }));
    await gateway.script();
    await egress.plain().pay('clear', {}, { headers: ['X-Bank-Channel', 'web', 'X-Unknown', 'web'] });
    expect(gateway.seen[0]?.valuesOf('x-bank-channel')).toEqual(['web']);
    expect(gateway.seen[0]?.headerNames).not.toContain('x-unknown');
  });

  it.each(ROUTES)('say what the body is, and keep what the client said besides: %s', async (route) => {
    for (const caller of callers) {
      await gateway.script();
      const headers = ['X-Request_Id', 'request-7', 'Accept-Language', 'uk', 'traceparent', TRACE];
      await caller.pay(route, {}, { headers });
      const [request] = gateway.seen;
      expect(request?.valuesOf('content-type')[0]).toMatch(route === 'sealed' ? /^text\/plain/ : /^application\/json/);
      expect(request?.valuesOf('content-length').length).toBeLessThanOrEqual(1);
      expect(request?.valuesOf('x-request_id')).toEqual(['request-7']);
      expect(request?.valuesOf('accept-language')).toEqual(['uk']);
      expect(request?.valuesOf('traceparent').map((value) => value.slice(0, 35))).toEqual([TRACE.slice(0, 35)]);
    }
  });

  it.each(ROUTES)(
    'reach the client without cookies, what is for one connection, and anything of a session: %s',
    async (route) => {
      for (const caller of callers) {
        await gateway.script({
          run: ({ socket, good }) =>
            void socket.write(answer(200, good, [...NOT_FOR_THE_CLIENT, 'X-Request_Id: request-7'])),
        });
        const given = await caller.pay(route, {});
        expect(outcomeOf(given, GOOD)).toBe('good');
        const text = JSON.stringify(given.rawHeaders).toLowerCase();
        for (const name of [
          'set-cookie',
          'x-named-by-connection',
          'x-device_id',
          'x-refresh_token',
          'proxy-authenticate',
          'h2c',
          'timeout=72',
        ])
          expect(text).not.toContain(name);
        expect(given.headers['x-request_id']).toBe('request-7');
        for (const session of broker.sessions)
          for (const secret of [session.deviceId, session.refreshToken, session.authToken]) {
            expect(text).not.toContain(secret);
            expect(given.text).not.toContain(secret);
          }
      }
    },
  );

  it.each(ROUTES)('keep the method, and path and query as they were written: %s', async (route) => {
    for (const caller of callers) {
      await gateway.script();
      const path = `${PATHS[route]}/an-order_~.(1)!*'?a=1&b=x%20y`;
      expect(outcomeOf(await caller.pay(route, {}, { path }), GOOD)).toBe('good');
      expect(gateway.seen).toMatchObject([{ method: 'POST', target: path }]);
    }
  });
});

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('the path of a request', () => {
  let stage: PlayedStage;
  let gateway: HostileGateway;
  let egress: RunningEgress;

  beforeAll(async () => {
    stage = await PlayedStage.start();
    ({ gateway, egress } = stage);
  });
  beforeEach(() => gateway.script());
  afterAll(() => stage.close());

  /** As written, octet by octet: no client library would send most of these. */
  const statusOf = async (target: string, method = 'POST'): Promise<number | undefined> => {
    const connection = await RawConnection.to(egress.url);
    const own = ['host: egress', `authorization: Bearer ${egress.client().token}`, 'content-type: application/json'];
    connection.write(`${[`${method} ${target} HTTP/1.1`, ...own, 'content-length: 2'].join('\r\n')}\r\n\r\n{}`);
    await eventually(() => connection.statuses.length > 0 || connection.isClosed);
    connection.vanish();
    return connection.statuses[0];
  };

  it.each([true, false])(
    'is told to be that of an egress to whoever takes it for the broker, known: %s',
    async (isKnown) => {
      const auth = isKnown ? egress.client().token : 'of-nobody';
      const broker = new SessionBroker({ url: egress.url, merchant: 'shop', auth, follow: 'none' });
      await expect(broker.session()).rejects.toMatchObject({
        code: 'not_the_broker',
        message: expect.stringContaining('It is an egress that answers there'),
      });
      await broker.close();
    },
  );

  it('is told to be that of an egress to whoever takes it for the gateway, and no dead session is reported', async () => {
    const reported: unknown[] = [];
    const onEvent = (event: ClientEvent): void => void (event.type === 'rejection' && reported.push(event));
    const { url, token } = stage.broker;
    const wrong = { gateway: { url: egress.url } };
    await using broker = new SessionBroker({ url, merchant: 'shop', auth: token, follow: 'none', onEvent, ...wrong });
    const paying = broker.fetch(PATHS.clear, { json: {} });
    await expect(paying).rejects.toMatchObject({
      code: 'not_the_gateway',
      message: expect.stringMatching(
        /^It is a broker or an egress that answers at http:\/\/127\.0\.0\.1:\d+ \(status 401, application\/json\), and no gateway/,
      ),
    });
    expect(reported).toEqual([]);
    expect(gateway.seen).toEqual([]);
  });

  it.each([
    '/ecom/execute_requests/pay',
    '/api-gateway/%61uthorize_virtual_device',
    '/ecom/execute_request/hpp/../payments/v3/refund',
    'http://elsewhere.example/api-gateway/echo',
    `/ecom/execute_request/hpp/${'x'.repeat(40_000)}`,
  ])('reaches nobody where no route allows it, or two programs could read it in two ways: %j', async (target) => {
    const status = await statusOf(target);
    expect(status === undefined || (status >= 400 && status < 500)).toBe(true);
    expect(gateway.seen).toEqual([]);
  });

  it('is not gone by CONNECT', async () => {
    expect(await statusOf('elsewhere.example:443', 'CONNECT')).toBe(501);
    expect(gateway.seen).toEqual([]);
  });

  it('does not become a tunnel by Upgrade', async () => {
    const connection = await RawConnection.to(egress.url);
    const own = [
      'host: egress',
      `authorization: Bearer ${egress.client().token}`,
      'connection: upgrade',
      'upgrade: websocket',
    ];
    connection.write(`${[`GET ${PATHS.clear} HTTP/1.1`, ...own].join('\r\n')}\r\n\r\n`);
    await eventually(() => connection.statuses.length > 0 || connection.isClosed);
    expect(connection.statuses).not.toContain(101);
    for (const request of gateway.seen) expect(request.headerNames).not.toContain('upgrade');
    connection.vanish();
  });
});
