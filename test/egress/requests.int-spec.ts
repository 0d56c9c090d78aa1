import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { CREATE, PATHS, ROUTES } from './callers.js';
import { answer, type HostileGateway, outcomeOf } from './hostile-gateway.js';
import { PlayedStage } from './played-stage.js';
import { MAX_BODY_BYTES, type RunningEgress } from './running-egress.js';
import { eventually } from '#libs/testing';
import { AliasSessions } from '../../apps/egress/src/alias/alias-sessions.js';
import { MerchantSession } from '../../apps/egress/src/sessions/merchant-session.js';
import { exchange, RawConnection } from './raw-exchange.js';

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
  await egress.plain().pay('clear', {});
});
beforeEach(() => gateway.script());
afterAll(() => stage.close());

const opened: RawConnection[] = [];
afterEach(() => opened.splice(0).forEach((connection) => connection.vanish()));

/** As written, octet by octet: no client library would send most of it. */
async function write(
  line: string,
  headers: readonly string[],
  { body = '', token = egress.client().token } = {},
): Promise<RawConnection> {
  const connection = await RawConnection.to(egress.url);
  opened.push(connection);
  const own = ['host: egress', `authorization: Bearer ${token}`, 'content-type: application/json'];
  connection.write(`${[line, ...own, ...headers].join('\r\n')}\r\n\r\n${body}`);
  return connection;
}

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
  const statusOf = async (line: string, ...headers: readonly string[]): Promise<number | undefined> => {
    const connection = await write(line, [...headers, 'content-length: 2'], { body: '{}' });
    await eventually(() => connection.statuses.length > 0 || connection.isClosed);
    return connection.statuses[0];
  };

  it.each([true, false])('is told to be at an egress where it is one of the broker, known: %s', async (isKnown) => {
    const headers = isKnown ? ['authorization', `Bearer ${egress.client().token}`] : [];
    const { body } = await exchange(egress.url, { method: 'GET', path: '/v1/merchants/shop/session', headers });
    expect(JSON.parse(body.toString())).toMatchObject({ serviceId: 'session-egress', code: expect.any(String) });
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

describe('the body of a request', () => {
  const to = (path: string): string => `POST ${path} HTTP/1.1`;
  const told = (connection: RawConnection, text: string): Promise<void> =>
    eventually(() => connection.received.includes(text) || connection.isClosed);
  /** The content of what came first. */
  const sent = (): string => {
    const [request] = gateway.seen;
    if (request === undefined) return 'nothing came';
    return request.target === PATHS.sealed ? gateway.plaintextOf(request) : request.body.toString('utf8');
  };

  it.each(ROUTES)('is asked for with Expect: 100-continue once the request is let in: %s', async (route) => {
    const connection = await write(to(PATHS[route]), ['content-length: 13', 'expect: 100-continue']);
    await told(connection, '100 Continue');
    expect(connection.statuses).toEqual([100]);
    connection.write('{"amount": 5}');
    await told(connection, 'PAID');
    expect([connection.statuses, sent()]).toEqual([[100, 200], '{"amount": 5}']);
    expect(gateway.seen[0]?.headerNames).not.toContain('expect');
  });

  it.each([
    ['a token of nobody', 401, { path: PATHS.clear, length: 13, token: 'of-nobody' }],
    ['a path without a route', 404, { path: '/elsewhere/pay', length: 13 }],
    ['a length that is too large', 413, { path: PATHS.sealed, length: MAX_BODY_BYTES + 1 }],
  ])('is not asked for with %s', async (_what, status, { path, length, ...given }) => {
    const connection = await write(to(path), [`content-length: ${length}`, 'expect: 100-continue'], given);
    await told(connection, 'HTTP/1.1');
    expect([connection.statuses, gateway.seen]).toEqual([[status], []]);
  });

  it.each(ROUTES)('may come in chunks: %s', async (route) => {
    const chunks = ['{"amo', 'unt": ', '5}'].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`);
    const connection = await write(to(PATHS[route]), ['transfer-encoding: chunked'], {
      body: `${chunks.join('')}0\r\n\r\n`,
    });
    await told(connection, 'PAID');
    expect([connection.statuses, sent()]).toEqual([[200], '{"amount": 5}']);
  });

  it.each(['GET', 'TRACE'])('is none of the interface by %s', async (method) => {
    const headers = ['authorization', `Bearer ${egress.client().token}`];
    for (const path of [PATHS.clear, PATHS.sealed, CREATE]) {
      const given = await exchange(egress.url, { method, path, headers });
      expect([given.status, given.headers.allow]).toEqual([405, 'POST']);
    }
    expect(gateway.seen).toEqual([]);
  });

  it('is refused on a clear route without JSON', async () => {
    for (const caller of egress.callers())
      for (const body of ['', 'amount=5'])
        expect(outcomeOf(await caller.pay('clear', body))).toBe('400 invalid_request');
    expect(gateway.seen).toEqual([]);
  });

  it.each([
    ['text that is no JSON', { body: 'amount=5', type: 'application/json', statuses: [400] }],
    ['nothing', { body: '', type: 'application/json', statuses: [400, 415] }],
    ['no type', { body: '{}', type: undefined, statuses: [415] }],
  ])('is refused on a sealed route with %s', async (_what, { body, type, statuses }) => {
    const own = ['authorization', `Bearer ${egress.client().token}`];
    const headers = [...own, ...(type === undefined ? [] : ['content-type', type])];
    const given = await exchange(egress.url, { path: PATHS.sealed, headers, body });
    expect(statuses).toContain(given.status);
    expect(gateway.seen).toEqual([]);
  });

  it('of an alias client is refused when it is not sealed to the alias session', async () => {
    const headers = [...(await egress.alias().presented()), 'content-type', 'text/plain'];
    for (const body of ['no JWE', 'a.b.c.d.e', '']) {
      const given = await exchange(egress.url, { path: PATHS.sealed, headers, body });
      expect([200, 400]).toContain(given.status);
      const ours = { msgCode: expect.any(String) as string, serviceId: 'session-egress' };
      expect(JSON.parse(given.body.toString())).toMatchObject(ours);
    }
    expect(gateway.seen).toEqual([]);
  });

  it.each(ROUTES)(
    'that is too large is refused before anything is sent, when its length says so: %s',
    async (route) => {
      const large = JSON.stringify({ note: 'x'.repeat(MAX_BODY_BYTES) });
      for (const caller of egress.callers()) {
        if (caller.form === 'alias' && route === 'sealed') continue;
        const given = await caller.pay(route, large);
        expect([given.status, given.code, gateway.seen]).toEqual([413, 'payload_too_large', []]);
      }
    },
  );

  it.each(ROUTES)('that is too large reaches no gateway whole when it comes in chunks: %s', async (route) => {
    const connection = await write(to(PATHS[route]), ['transfer-encoding: chunked']);
    for (let part = 0; part < 20; part += 1) connection.write(`1000\r\n${'x'.repeat(4_096)}\r\n`);
    await told(connection, 'HTTP/1.1');
    expect(connection.statuses).toEqual([413]);
    expect(gateway.seen.filter(({ isWhole }) => isWhole)).toEqual([]);
  });

  it.each<[string, readonly string[]]>([
    ['a length and chunks', ['content-length: 5', 'transfer-encoding: chunked']],
    ['two lengths that differ', ['content-length: 5', 'content-length: 105']],
    ['another coding below the chunks', ['transfer-encoding: gzip, chunked']],
  ])('is refused with two lengths, and what follows is not taken for a request: %s', async (_what, lines) => {
    const smuggled = `GET /ecom/execute_request/hpp/v1/smuggled HTTP/1.1\r\nhost: x\r\n\r\n`;
    const connection = await write(to(PATHS.clear), lines, { body: `0\r\n\r\n${smuggled}` });
    await eventually(() => connection.isClosed);
    expect(connection.statuses.every((status) => status >= 400)).toBe(true);
    expect(gateway.seen.filter(({ target, isWhole }) => isWhole || target.includes('smuggled'))).toEqual([]);
  });

  it('is followed, when it was sealed, by what seals the next one, and the next answer to who opens it itself', async () => {
    const ofRequests = jest.spyOn(MerchantSession.prototype, 'prepareSeal');
    const ofAnswers = jest.spyOn(AliasSessions.prototype, 'prepareSeal');
    for (const [caller, prepared] of [
      [egress.plain(), '1,0'],
      [egress.alias(), '2,1'],
    ] as const) {
      for (const route of ROUTES) expect(outcomeOf(await caller.pay(route, {}))).toBe('good');
      await eventually(() => [ofRequests, ofAnswers].map(({ mock }) => mock.calls.length).join() === prepared);
    }
    jest.restoreAllMocks();
  });
});
