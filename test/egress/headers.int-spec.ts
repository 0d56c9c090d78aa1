import { randomUUID } from 'node:crypto';
import { PATHS, ROUTES } from './callers.js';
import { answer, type HostileGateway, outcomeOf } from './hostile-gateway.js';
import { PlayedStage } from './played-stage.js';
import type { RunningEgress } from './running-egress.js';
import { type ClientEvent, SessionBroker } from '#libs/client';
import { eventually } from '#libs/testing';
import { RawConnection } from './raw-exchange.js';

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const KEPT = ['X-Request_Id', 'request-7', 'Accept-Language', 'uk', 'traceparent', TRACE];

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
];

/** Headers of a session, or claiming to be, in various spellings, each twice. */
const FORGED = [
  ['X-Api_Version', 'version-of-nobody'],
  ['X-DEVICE_ID', randomUUID()],
  ['x-refresh_token', randomUUID()],
  ['X-Refresh-Token', randomUUID()],
].flatMap((header) => [header, header]);

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
const NEVER_TOLD =
  /set-cookie|x-named-by-connection|x-device_id|x-refresh_token|proxy-authenticate|h2c|timeout=72|of-the-bank/;

let stage: PlayedStage;
let gateway: HostileGateway;
let egress: RunningEgress;

beforeAll(async () => {
  stage = await PlayedStage.start();
  ({ gateway, egress } = stage);
});
beforeEach(() => gateway.script());
afterAll(() => stage.close());

describe('a payment', () => {
  const forms = ROUTES.flatMap((route) => (['plain', 'alias'] as const).map((form) => [form, route] as const));

  it.each(forms)(
    'has the headers of one session and few others, and so has its answer: %s, %s',
    async (form, route) => {
      const caller = egress[form]();
      await gateway.script({
        run: ({ socket, good }) =>
          void socket.write(answer(200, good, [...NOT_FOR_THE_CLIENT, 'X-Request_Id: request-7'])),
      });
      // An alias session that is named twice is none.
      const others = [...NOT_FOR_THE_BANK, ...(form === 'plain' ? FORGED : [])];
      const path = `${PATHS[route]}/an-order_~.(1)!*'?a=1&b=x%20y`;
      const given = await caller.pay(route, {}, { path, headers: [...others.flat(), ...KEPT] });
      expect(outcomeOf(given)).toBe('good');

      const [request] = gateway.seen;
      const session = request && gateway.sessionOf(request);
      expect(session).toBeDefined();
      const sent = Object.fromEntries((request?.headerNames ?? []).map((name) => [name, request?.valuesOf(name)]));
      expect(sent).toEqual({
        host: [new URL(gateway.url).host],
        connection: ['keep-alive'],
        'content-type': [expect.stringMatching(route === 'sealed' ? /^text\/plain/ : /^application\/json/)],
        'content-length': [expect.any(String)],
        'accept-encoding': ['identity'],
        'x-api_version': ['V1'],
        'x-device_id': [session?.deviceId],
        'x-refresh_token': [session?.refreshToken],
        'x-request_id': ['request-7'],
        'accept-language': ['uk'],
        traceparent: [expect.stringContaining(TRACE.slice(0, 35))],
      });
      expect(request).toMatchObject({ target: path });
      const foreign = [...caller.secrets, session?.authToken ?? 'none', ...others.map(([, value = '']) => value)];
      expect(foreign.filter((value) => request?.text.includes(value))).toEqual([]);

      const told = JSON.stringify([given.rawHeaders, given.text]).toLowerCase();
      expect(told).not.toMatch(NEVER_TOLD);
      expect(given.headers['x-request_id']).toBe('request-7');
      for (const { deviceId, refreshToken, authToken } of stage.broker.sessions)
        for (const secret of [deviceId, refreshToken, authToken]) expect(told).not.toContain(secret);
    },
  );

  it('has besides the headers that the configuration names', async () => {
    await egress.reconfigure((before) => ({
      ...before,
      gateway: { ...before.gateway, passedHeaders: ['x-bank-channel'] },
    }));
    await egress.plain().pay('clear', {}, { headers: ['X-Bank-Channel', 'web', 'X-Unknown', 'web'] });
    expect(gateway.seen[0]?.valuesOf('x-bank-channel')).toEqual(['web']);
    expect(gateway.seen[0]?.headerNames).not.toContain('x-unknown');
  });
});

describe('the path of a request', () => {
  /** As written, octet by octet: no client library would send most of these. */
  const statusOf = async (line: string, ...headers: readonly string[]): Promise<number | undefined> => {
    const connection = await RawConnection.to(egress.url);
    const own = ['host: egress', `authorization: Bearer ${egress.client().token}`, 'content-type: application/json'];
    connection.write(`${[line, ...own, ...headers, 'content-length: 2'].join('\r\n')}\r\n\r\n{}`);
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
    await expect(broker.fetch(PATHS.clear, { json: {} })).rejects.toMatchObject({
      code: 'not_the_gateway',
      message: expect.stringMatching(
        /^It is a broker or an egress that answers at http:\/\/127\.0\.0\.1:\d+ \(status 401, application\/json\), and no gateway/,
      ),
    });
    expect([reported, gateway.seen]).toEqual([[], []]);
  });

  it.each([
    '/ecom/execute_requests/pay',
    '/api-gateway/%61uthorize_virtual_device',
    '/ecom/execute_request/hpp/../payments/v3/refund',
    'http://elsewhere.example/api-gateway/echo',
    `/ecom/execute_request/hpp/${'x'.repeat(40_000)}`,
  ])('reaches nobody where no route allows it, or two programs could read it in two ways: %j', async (target) => {
    const status = await statusOf(`POST ${target} HTTP/1.1`);
    expect(status === undefined || (status >= 400 && status < 500)).toBe(true);
    expect(gateway.seen).toEqual([]);
  });

  it('is not gone by CONNECT, and does not become a tunnel by Upgrade', async () => {
    expect(await statusOf('CONNECT elsewhere.example:443 HTTP/1.1')).toBe(501);
    expect(await statusOf(`GET ${PATHS.clear} HTTP/1.1`, 'connection: upgrade', 'upgrade: websocket')).not.toBe(101);
    expect(gateway.seen).toEqual([]);
  });
});
