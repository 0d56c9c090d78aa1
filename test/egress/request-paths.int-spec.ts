import { type ClientEvent, deadSessionCode, SessionBroker } from '#libs/client';
import { eventually } from '#libs/testing';
import { PATHS } from './callers.js';
import type { HostileGateway } from './hostile-gateway.js';
import { PAID } from './hostile-gateway.js';
import { outcomeOf } from './outcome.js';
import { PlayedStage } from './played-stage.js';
import { RawConnection } from './raw-exchange.js';
import type { RunningEgress } from './running-egress.js';

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
    await using broker = new SessionBroker({ url, merchant: 'shop', auth: token, follow: 'none', onEvent });
    const paying = broker.withSession(async ({ deviceId, refreshToken = '' }) => {
      const headers = { 'x-device_id': deviceId, 'x-refresh_token': refreshToken, 'content-type': 'text/plain' };
      const answer = await fetch(egress.url + PATHS.clear, { method: 'POST', headers, body: 'a.b.c.d.e' });
      return deadSessionCode(answer);
    });
    await expect(paying).rejects.toMatchObject({
      code: 'not_the_gateway',
      message: expect.stringMatching(
        /^It is an egress that answers at http:\/\/127\.0\.0\.1:\d+ \(status 401, application\/json\), and no gateway/,
      ),
    });
    expect(reported).toEqual([]);
    expect(gateway.seen).toEqual([]);
  });

  it('is told to come from a base URL with a slash at its end, when a slash is doubled', async () => {
    const authorization = `Bearer ${egress.client().token}`;
    const answer = await fetch(`${egress.url}//ecom/execute_request/hpp/v1/operations`, { headers: { authorization } });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      code: 'invalid_request',
      detail:
        'there is // in the path, which is not passed on: write the base URL of the egress without the slash at its end',
    });
  });

  it('is told which slash to leave out where its path ends with one', async () => {
    const authorization = `Bearer ${egress.client().token}`;
    const answer = await fetch(`${egress.url}/ecom/execute_request/hpp/v1/operations/`, { headers: { authorization } });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      detail: 'the path ends with a slash, which is not passed on: leave that slash out',
    });
  });

  it.each([
    '/',
    '*',
    '/ecom',
    '/ecom/execute_request',
    '/ecom/execute_request/',
    '/ecom/execute_requests/pay',
    '/ECOM/execute_request/hpp/v1/create-order',
    '/api-gateway/echo',
    '/api-gateway/authorize_virtual_device/x',
    '/api-gateway/authorize_virtual_device/',
    '/api-gateway//authorize_virtual_device',
    '/api-gateway/%61uthorize_virtual_device',
    '/ecom/execute_request/../../api-gateway/authorize_virtual_device',
    '/ecom/execute_request/hpp/../payments/v3/refund',
    '/ecom/execute_request/hpp/..',
    '/ecom/execute_request/hpp/.',
    '/ecom/execute_request/hpp/./x',
    '/ecom/execute_request/hpp/%2e%2e/payments/v3/refund',
    '/ecom/execute_request/hpp/.%2e/payments/v3/refund',
    '/ecom/execute_request/hpp/%2E./payments/v3/refund',
    '/ecom/execute_request/hpp/%252e%252e/payments/v3/refund',
    '/ecom/execute_request/hpp/..;/payments/v3/refund',
    '/ecom/execute_request/hpp/..%2fpayments/v3/refund',
    '/ecom/execute_request/hpp%2fv1%2fcreate-order',
    '/ecom/execute_request/hpp/..%5cpayments',
    '/ecom/execute_request/hpp/..\\payments',
    '\\ecom\\execute_request\\hpp\\v1',
    '//ecom/execute_request/hpp/v1/create-order',
    '/ecom//execute_request/hpp/v1/create-order',
    '/ecom/execute_request/hpp//create-order',
    '//elsewhere.example/ecom/execute_request/hpp/v1',
    '/ecom/execute_request/hpp/v1%00/create-order',
    '/ecom/execute_request/hpp/v1\0/create-order',
    '/ecom/execute_request/hpp/v1\t/create-order',
    '/ecom/execute_request/hpp/v1#/../../../api-gateway',
    '/ecom/execute_request/hpp/v1\xe9',
    '/ecom/execute_request/hpp/%zz',
    'http://elsewhere.example/ecom/execute_request/hpp/v1/create-order',
    'http://elsewhere.example/api-gateway/echo',
    'ecom/execute_request/hpp/v1/create-order',
    `/ecom/execute_request/hpp/${'x'.repeat(20_000)}`,
  ])('reaches nobody where no route allows it, or two programs could read it in two ways: %j', async (target) => {
    const status = await statusOf(target);
    expect(status === undefined || (status >= 400 && status < 500)).toBe(true);
    expect(gateway.seen).toEqual([]);
  });

  it.each(['CONNECT', 'TRACE'])('is not gone by %s', async (method) => {
    const status = await statusOf(method === 'CONNECT' ? 'elsewhere.example:443' : PATHS.clear, method);
    expect(status).toBe(method === 'CONNECT' ? 501 : 405);
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

  it('is what the route says, and is sent as it was written', async () => {
    const path = "/ecom/execute_request/hpp/v1/an-order_~.(1)!*'";
    expect(outcomeOf(await egress.plain().pay('clear', {}, { path }), { good: JSON.stringify(PAID) })).toBe('good');
    expect(gateway.seen).toMatchObject([{ target: path }]);
  });

  it('says which methods it takes where it refuses one', async () => {
    const headers = { authorization: `Bearer ${egress.client().token}` };
    const answer = await fetch(`${egress.url}${PATHS.sealed}`, { method: 'PUT', headers, body: '{}' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('without a route is said in the form of the client', async () => {
    const plain = await egress.plain().pay('clear', {}, { path: '/elsewhere' });
    expect([plain.status, plain.code]).toEqual([404, 'route_not_found']);
    expect(plain.text).toContain('the path matches none of the routes of this egress');
    expect(plain.headers['content-type']).toMatch(/^application\/problem\+json/);
    const alias = await egress.alias().pay('clear', {}, { path: '/elsewhere' });
    expect([alias.status, JSON.parse(alias.text)]).toEqual([
      404,
      expect.objectContaining({ msgCode: 'route_not_found', msgType: 'ERROR', serviceId: 'session-egress' }),
    ]);
  });
});
