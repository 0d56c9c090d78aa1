import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { describeWith, endedAfterEach, LoopbackServer, TestAuthority } from '#libs/testing';
import { bodyOf } from '../e2e/call.js';
import { type BrokerSetUp, RunningBroker, TOKENS } from '../e2e/running-broker.js';
import { orderRequest } from '../sandbox/order-request.js';
import { CREATE_ORDER } from '../sandbox/payment-desk.js';
import { PROXIES, type ProxyName, ProxyProgram } from './proxy-programs.js';

const SESSION = '/v1/merchants/shop/session';
const FORGED = {
  'x-api_version': 'V0',
  'X-Device_ID': 'forged-device',
  'X-REFRESH_TOKEN': 'forged-token',
  'x-session-generation': '"1"',
  authorization: 'Bearer of-the-client',
  cookie: 'of=the-client',
};

interface SetUp extends BrokerSetUp {
  /** What the proxies present to the broker. */
  readonly brokerToken?: string;
}

describeWith(PROXIES, 'a proxy with forward auth', () => {
  const started = endedAfterEach();
  let broker: RunningBroker;
  let isBrokerGone: boolean;
  let proxies: Map<ProxyName, ProxyProgram>;
  /** What has reached the gateway. */
  let received: IncomingMessage[];

  /** A gateway behind TLS, as a bank has it: keeps the requests, and has a sandbox answer them. */
  const asGateway = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // What breaks off in the middle is not a request, and nobody waits for its answer.
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) return;
    received.push(request);
    const { headers, method = '', url = '' } = request;
    const ofTheConnection = /^(host|connection|content-length|transfer-encoding|keep-alive)$/;
    const passedOn = Object.entries(headers).filter(([name]) => !ofTheConnection.test(name)) as [string, string][];
    const answer = await fetch(broker.sandboxUrl + url, { method, headers: passedOn, body: Uint8Array.from(body) });
    const type = answer.headers.get('content-type') ?? 'text/plain';
    response.writeHead(answer.status, { 'content-type': type, 'set-cookie': 'firewall=1' }).end(await answer.text());
  };

  /** A broker with its bank, and all proxies between the merchant's clients and the gateway. */
  const start = async ({ brokerToken = TOKENS.checkout, ...setUp }: SetUp = {}): Promise<void> => {
    received = [];
    isBrokerGone = false;
    broker = started.add(await RunningBroker.start(setUp), (it) => (isBrokerGone ? undefined : it.close()));
    const authority = new TestAuthority();
    const gateway = await LoopbackServer.https(authority.issue({ names: ['localhost'] }), (request, response) => {
      void asGateway(request, response);
    });
    started.add(gateway, (it) => it.close());
    const of = { brokerUrl: broker.url, brokerToken, gatewayPort: gateway.port, gatewayAuthority: authority.cert };
    const running = PROXIES.map(async (name) => [name, await ProxyProgram.start(name, of)] as const);
    proxies = new Map(await Promise.all(running));
    for (const proxy of proxies.values()) started.add(proxy, (it) => it.stop());
  };

  /** An order on the hosted page, as made by a client that does not know of sessions. */
  const order = (proxy: ProxyProgram, headers: Readonly<Record<string, string>> = {}): Promise<Response> => {
    received.length = 0;
    const own = { 'content-type': 'application/json', ...headers };
    return fetch(proxy.url + CREATE_ORDER, { method: 'POST', headers: own, body: JSON.stringify(orderRequest()) });
  };

  it('puts the headers of the session in the place of those that a client forged, and tells nobody of its own', async () => {
    await start();
    const session = await broker.get(SESSION, { prefer: 'wait=5' }).then(bodyOf<Record<string, string>>);
    const { deviceId, refreshToken, generation } = session;
    for (const [name, proxy] of proxies) {
      const answer = await order(proxy, FORGED);
      const made = { hppOrderId: expect.any(String) as string };
      expect([name, answer.status, await answer.json()]).toEqual([name, 200, expect.objectContaining(made)]);
      const [request, ...others] = received;
      expect([request?.method, request?.url, others]).toEqual(['POST', CREATE_ORDER, []]);
      expect(request?.headersDistinct).toMatchObject({
        'x-api_version': ['V1'],
        'x-device_id': [deviceId],
        'x-refresh_token': [refreshToken],
        host: [expect.stringMatching(/^localhost/)],
      });
      const sent = JSON.stringify(request?.rawHeaders);
      expect(sent).not.toMatch(/forged|of-the-client|x-session-generation/i);
      expect(answer.headers.get('x-session-generation')).toBe(`"${generation}"`);
      expect(answer.headers.get('set-cookie')).toBeNull();
      const told = JSON.stringify([...answer.headers]);
      for (const secret of [deviceId, refreshToken, TOKENS.checkout]) expect(told).not.toContain(secret);
      expect(sent + proxy.said).not.toContain(TOKENS.checkout);
    }
  });

  it('passes nothing on but payments, none that is too large, and none once the broker is gone', async () => {
    await start();
    for (const [name, proxy] of proxies) {
      expect([name, (await order(proxy)).status]).toEqual([name, 200]);
      received.length = 0;
      const create = await fetch(`${proxy.url}/api-gateway/authorize_virtual_device`, { method: 'POST' });
      expect([name, create.status]).toEqual([name, 404]);
      const large = await fetch(proxy.url + CREATE_ORDER, { method: 'POST', body: 'x'.repeat(70_000) });
      expect([413, 502]).toContain(large.status);
      expect([name, received]).toEqual([name, []]);
    }
    isBrokerGone = true;
    await broker.close();
    for (const proxy of proxies.values()) {
      expect((await order(proxy)).status).toBeGreaterThanOrEqual(502);
      expect(received).toEqual([]);
    }
  });

  it.each<[string, SetUp]>([
    ['the gateway makes none', { faults: [{ kind: 'error', operation: 'authorize', msgCode: 'b_overload_error' }] }],
    ['the broker does not know its token', { brokerToken: 'of-nobody' }],
    ['the broker does not let it read', { brokerToken: TOKENS.reporting }],
  ])('says 503 and, as the broker does, when to come again, and passes no payment on, as %s', async (_why, setUp) => {
    await start(setUp);
    for (const [name, proxy] of proxies) {
      const answer = await order(proxy, FORGED);
      expect([name, answer.status]).toEqual([name, 503]);
      expect(await answer.text()).toContain('"code":"session_unavailable"');
      if (setUp.faults !== undefined)
        expect([name, answer.headers.get('retry-after')]).toEqual([name, expect.stringMatching(/^[1-9]\d*$/)]);
      expect(received).toEqual([]);
    }
  });

  it('passes a session without a refresh token on as the two headers that it has', async () => {
    await start({ merchant: { form: 'short' } });
    for (const [name, proxy] of proxies) {
      await order(proxy, FORGED);
      expect([name, received.length]).toEqual([name, 1]);
      expect(received[0]?.headers).toMatchObject({ 'x-device_id': expect.stringMatching(/^[0-9a-f-]{36}$/) });
      expect(received[0]?.headers).not.toHaveProperty('x-refresh_token');
    }
  });

  it.each(PROXIES)(
    'repeats no payment whose session is dead; its client reports it by the generation that it was told: %s',
    async (name) => {
      await start();
      const proxy = proxies.get(name) as ProxyProgram;
      await broker.get(SESSION, { prefer: 'wait=5' });
      await broker.control('DELETE', '/sessions?merchant=shop&msgCode=b_session_doesnt_exist');
      const refused = await order(proxy);
      expect(await refused.json()).toMatchObject({ msgCode: 'b_session_doesnt_exist' });
      expect(received).toHaveLength(1);
      const generation = Number(refused.headers.get('x-session-generation')?.replaceAll('"', ''));
      const report = { generation, reason: 'b_session_doesnt_exist' };
      expect((await broker.post(`${SESSION}/rejections`, report)).status).toBe(200);
      expect((await order(proxy)).status).toBe(200);
    },
  );
});
