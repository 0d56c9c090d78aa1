import { RunningBroker, TOKENS } from '../e2e/running-broker.js';
import { CREATE_ORDER, orderRequest } from '../sandbox/payment-desk.js';
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

/** A broker with its bank, and all proxies between its merchant's clients and the gateway. */
class Stage {
  readonly proxies = new Map<ProxyName, ProxyProgram>();

  private constructor(
    readonly broker: RunningBroker,
    readonly gateway: RecordingGateway,
  ) {}

  static async start(setUp: Parameters<typeof RunningBroker.start>[0] = {}): Promise<Stage> {
    const broker = await RunningBroker.start(setUp);
    const stage = new Stage(broker, await RecordingGateway.start(broker.sandboxUrl));
    const around = {
      brokerUrl: broker.url,
      brokerToken: TOKENS.checkout,
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

  /** An order on the hosted page, as a client makes it that knows of no session. */
  order(name: ProxyName, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const body = JSON.stringify(orderRequest());
    const own = { 'content-type': 'application/json', ...headers };
    return fetch(this.proxy(name).url + CREATE_ORDER, { method: 'POST', headers: own, body });
  }

  async close(): Promise<void> {
    for (const proxy of this.proxies.values()) await proxy.stop();
    await this.gateway.close();
    await this.broker.close();
  }
}

describe('a proxy with forward auth', () => {
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
