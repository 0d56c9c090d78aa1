import { describeWith } from '#libs/testing';
import { type BrokerSetUp, RunningBroker, TOKENS } from '../e2e/running-broker.js';
import { orderRequest } from '../sandbox/order-request.js';
import { CREATE_ORDER } from '../sandbox/payment-desk.js';
import { PROXIES, type ProxyName, ProxyProgram } from './proxy-programs.js';
import { RecordingGateway } from './recording-gateway.js';

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

/** A broker with its bank, and all proxies between the merchant's clients and the gateway. */
class Stage {
  readonly proxies = new Map<ProxyName, ProxyProgram>();
  #isBrokerStopped = false;

  private constructor(
    readonly broker: RunningBroker,
    readonly gateway: RecordingGateway,
  ) {}

  static async start({ brokerToken = TOKENS.checkout, ...setUp }: SetUp = {}): Promise<Stage> {
    const broker = await RunningBroker.start(setUp);
    const stage = new Stage(broker, await RecordingGateway.start(broker.sandboxUrl));
    const around = {
      brokerUrl: broker.url,
      brokerToken,
      gatewayPort: stage.gateway.port,
      gatewayAuthority: stage.gateway.authority,
    };
    for (const name of PROXIES) stage.proxies.set(name, await ProxyProgram.start(name, around));
    return stage;
  }

  proxy(name: ProxyName): ProxyProgram {
    const proxy = this.proxies.get(name);
    if (proxy === undefined) throw new Error(`${name} is not running`);
    return proxy;
  }

  /** An order on the hosted page, as made by a client that does not know of sessions. */
  order(name: ProxyName, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const body = JSON.stringify(orderRequest());
    const own = { 'content-type': 'application/json', ...headers };
    return fetch(this.proxy(name).url + CREATE_ORDER, { method: 'POST', headers: own, body });
  }

  async stopBroker(): Promise<void> {
    if (this.#isBrokerStopped) return;
    this.#isBrokerStopped = true;
    await this.broker.close();
  }

  async close(): Promise<void> {
    for (const proxy of this.proxies.values()) await proxy.stop();
    await this.gateway.close();
    await this.stopBroker();
  }
}

describeWith(PROXIES, 'a proxy with forward auth', () => {
  let stage: Stage;
  let session: { readonly deviceId: string; readonly refreshToken: string; readonly generation: number };

  beforeAll(async () => {
    stage = await Stage.start();
    const { body } = await stage.broker.as(TOKENS.checkout).get(SESSION).set('prefer', 'wait=5').expect(200);
    session = body as typeof session;
  });
  afterAll(() => stage.close());
  beforeEach(() => {
    stage.gateway.received.length = 0;
  });

  it.each(PROXIES)('has an order taken by the gateway, of a client that knows of no session: %s', async (name) => {
    const answer = await stage.order(name);
    expect([answer.status, await answer.json()]).toEqual([
      200,
      expect.objectContaining({ hppOrderId: expect.any(String) }),
    ]);
    expect(stage.gateway.received).toEqual([expect.objectContaining({ method: 'POST', url: CREATE_ORDER })]);
  });

  it.each(PROXIES)('puts the headers of the session in the place of those that a client forged: %s', async (name) => {
    expect((await stage.order(name, FORGED)).status).toBe(200);
    const [request] = stage.gateway.received;
    const names = request?.rawHeaders.filter((_text, index) => index % 2 === 0).map((text) => text.toLowerCase());
    for (const header of ['x-api_version', 'x-device_id', 'x-refresh_token']) {
      expect(names?.filter((text) => text === header)).toEqual([header]);
    }
    expect(request?.headers).toMatchObject({
      'x-api_version': 'V1',
      'x-device_id': session.deviceId,
      'x-refresh_token': session.refreshToken,
      host: expect.stringMatching(/^localhost/),
    });
    expect(JSON.stringify(request)).not.toMatch(/forged|of-the-client|x-session-generation/);
  });

  it.each(PROXIES)('tells its client the generation, and no cookie of the gateway: %s', async (name) => {
    const { headers } = await stage.order(name);
    expect(headers.get('x-session-generation')).toBe(`"${session.generation}"`);
    expect(headers.get('set-cookie')).toBeNull();
    for (const secret of [session.deviceId, session.refreshToken]) {
      expect(JSON.stringify([...headers])).not.toContain(secret);
    }
  });

  it.each(PROXIES)('never sends the token for the broker to the gateway, or anywhere else: %s', async (name) => {
    const { headers } = await stage.order(name);
    expect(JSON.stringify(stage.gateway.received)).not.toContain(TOKENS.checkout);
    expect(JSON.stringify([...headers])).not.toContain(TOKENS.checkout);
    expect(stage.proxy(name).said).not.toContain(TOKENS.checkout);
  });

  it.each(PROXIES)('passes nothing on but payments, and none that is too large: %s', async (name) => {
    const { url } = stage.proxy(name);
    expect((await fetch(`${url}/api-gateway/authorize_virtual_device`, { method: 'POST' })).status).toBe(404);
    const large = await fetch(url + CREATE_ORDER, { method: 'POST', body: 'x'.repeat(70_000) });
    expect([413, 502]).toContain(large.status);
    expect(stage.gateway.received).toEqual([]);
  });
});

describeWith(PROXIES, 'a proxy that gets no session', () => {
  it.each<[string, SetUp]>([
    ['the gateway makes none', { faults: [{ kind: 'error', operation: 'authorize', msgCode: 'b_overload_error' }] }],
    ['the broker does not know its token', { brokerToken: 'of-nobody' }],
    ['the broker does not let it read', { brokerToken: TOKENS.reporting }],
  ])('says 503 and, as the broker does, when to come again, and passes no payment on, as %s', async (_why, setUp) => {
    const stage = await Stage.start(setUp);
    try {
      for (const name of PROXIES) {
        const answer = await stage.order(name, FORGED);
        expect([name, answer.status]).toEqual([name, 503]);
        expect(await answer.text()).toContain('"code":"session_unavailable"');
        if (setUp.faults !== undefined)
          expect([name, answer.headers.get('retry-after')]).toEqual([name, expect.stringMatching(/^[1-9]\d*$/)]);
      }
      expect(stage.gateway.received).toEqual([]);
    } finally {
      await stage.close();
    }
  });

  it('has no session of an earlier moment either: once the broker is gone, nothing is passed on', async () => {
    const stage = await Stage.start();
    try {
      for (const name of PROXIES) expect((await stage.order(name)).status).toBe(200);
      stage.gateway.received.length = 0;
      await stage.stopBroker();
      for (const name of PROXIES) expect((await stage.order(name)).status).toBeGreaterThanOrEqual(502);
      expect(stage.gateway.received).toEqual([]);
    } finally {
      await stage.close();
    }
  });
});

describeWith(PROXIES, 'a session without a refresh token', () => {
  it.each(PROXIES)('is passed on as the two headers that it has: %s', async (name) => {
    const stage = await Stage.start({ merchant: { form: 'short' } });
    try {
      await stage.order(name, FORGED);
      expect(stage.gateway.received).toHaveLength(1);
      expect(stage.gateway.received[0]?.headers).toMatchObject({
        'x-device_id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
      expect(stage.gateway.received[0]?.headers).not.toHaveProperty('x-refresh_token');
    } finally {
      await stage.close();
    }
  });
});

describeWith(PROXIES, 'a session that the gateway calls dead', () => {
  it.each(PROXIES)('is not repeated; its client reports it by the generation that it was told: %s', async (name) => {
    const stage = await Stage.start();
    try {
      await stage.broker.get(SESSION, { prefer: 'wait=5' });
      await stage.broker.control('DELETE', '/sessions?merchant=shop&msgCode=b_session_doesnt_exist');
      const refused = await stage.order(name);
      expect(await refused.json()).toMatchObject({ msgCode: 'b_session_doesnt_exist' });
      expect(stage.gateway.received).toHaveLength(1);
      const generation = Number(refused.headers.get('x-session-generation')?.replaceAll('"', ''));
      const report = { generation, reason: 'b_session_doesnt_exist' };
      expect((await stage.broker.post(`${SESSION}/rejections`, report)).status).toBe(200);
      expect((await stage.order(name)).status).toBe(200);
    } finally {
      await stage.close();
    }
  });
});
