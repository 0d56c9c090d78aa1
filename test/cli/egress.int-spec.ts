import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import { SystemClock } from '#libs/clock';
import { type GeneratedClientKey, generateClientKey, importClientKey } from '#libs/jwe';
import { endedAfterAll, freePort, LoopbackServer, TestAuthority } from '#libs/testing';
import { createManagementServer } from '../../apps/broker/src/management/management-server.js';
import { RunningSandbox } from '../sandbox/running-sandbox.js';
import { type Examination, Examined, messagesOf } from './examined.js';

const TOKEN = 'token-of-the-egress';
const ALIAS = 'c0ffee00-0368-41ed-b939-0242ac120009';

let examined: Examined;
let aliasKey: GeneratedClientKey;
let clientKey: GeneratedClientKey;
let gateway: RunningSandbox;
let broker: PlayedBroker;
const closers: (() => Promise<unknown>)[] = [];

/** The answers of a broker, as far as the doctor looks: permissions, the session, and the merchant's client key. */
class PlayedBroker {
  readonly allowed = new Set(['session:read', 'session:reject', 'payload:decrypt']);
  readonly asked: string[] = [];
  session: readonly [number, object] = [200, { generation: 7, expiresAt: '2026-11-22T12:00:00.000Z' }];
  merchants: readonly object[] = [];
  thumbprint = 'that-of-the-merchant';
  url = '';

  async start(): Promise<() => Promise<void>> {
    const server = await LoopbackServer.http(({ method = '', url = '', headers }, response) => {
      this.asked.push(`${method} ${url}`);
      const [status, body] =
        headers.authorization === `Bearer ${TOKEN}` ? this.#answer(url) : [401, { code: 'unauthenticated' }];
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    this.url = `http://127.0.0.1:${server.port}`;
    return () => server.close();
  }

  #answer(url: string): readonly [number, object] {
    const refused = [403, { code: 'forbidden' }] as const;
    const invalid = [400, { code: 'invalid_request' }] as const;
    if (url === '/v1/merchants') return [200, { merchants: this.merchants }];
    if (url.endsWith('/rejections')) return this.allowed.has('session:reject') ? invalid : refused;
    if (url.endsWith('/decrypt')) return this.allowed.has('payload:decrypt') ? invalid : refused;
    if (!this.allowed.has('session:read')) return refused;
    return url.endsWith('/client-key') ? [200, { thumbprint: this.thumbprint }] : this.session;
  }
}

interface Differences {
  readonly gatewayUrl?: string;
  readonly brokerUrl?: string;
  readonly broker?: string;
  readonly routes?: string;
}

async function configure({ gatewayUrl, brokerUrl, ...more }: Differences = {}): Promise<void> {
  await examined.write(
    'egress.yaml',
    `egress:
  management: { port: ${await freePort()} }
  broker: { url: "${brokerUrl ?? broker.url}", tokenFile: token${more.broker ?? ''} }
  gateway: { baseUrl: "${gatewayUrl ?? gateway.url}", environment: test, timeout: 2s }
  aliasKeyFiles: [alias.json]
${more.routes ?? ''}
  clients:
    - { name: orders, merchant: shop, token: { sha256: ${createHash('sha256').update('orders').digest('hex')} } }
    - { name: plugin, merchant: shop, serviceCodeAlias: ${ALIAS}, publicKeyFile: plugin.json }
`,
  );
}

const doctor = (): Promise<Examination> => examined.examine(examined.path('egress.yaml'));

const started = endedAfterAll();
beforeAll(async () => {
  [aliasKey, clientKey] = await Promise.all([generateClientKey(), generateClientKey()]);
  gateway = started.add(await RunningSandbox.start(new SystemClock()), (it) => it.close());
});
beforeEach(async () => {
  examined = await Examined.create();
  broker = new PlayedBroker();
  closers.push(await broker.start());
  await examined.write('token', TOKEN);
  await examined.write('alias.json', JSON.stringify(aliasKey.privateJwk));
  await examined.write('plugin.json', JSON.stringify(clientKey.publicJwk));
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await examined.remove();
});

describe('doctor: an egress', () => {
  it('passes when broker, keys and gateway are as it needs them, and nothing is created', async () => {
    await configure();
    const { code, text, check, checks } = await doctor();
    expect(checks.filter(({ status }) => status === 'failed' || status === 'not_run')).toEqual([]);
    expect(code).toBe(0);
    expect(check('configuration').findings).toMatchObject([{ message: 'clients: 2, routes: 2' }]);
    expect(check('broker.session')).toMatchObject({ subject: 'shop', facts: { generation: 7 } });
    expect(check('gateway.http')).toMatchObject({ status: 'passed', subject: new URL(gateway.url).host });
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain(ALIAS);
    expect((await gateway.calls()).calls.filter(({ operation }) => operation === 'authorize')).toEqual([]);
  });

  it('has nothing looked at while it would not start, and is told on which page the settings are', async () => {
    await examined.write('egress.yaml', 'egress:\nlisten: { port: 8443 }\n');
    const { code, checks, check } = await doctor();
    expect([code, checks.map(({ name }) => name)]).toEqual([2, ['configuration']]);
    expect(check('configuration').findings[0]?.remedy).toContain('docs/egress-configuration.md');
    expect(broker.asked).toEqual([]);
  });

  it('is told when the address of the broker is that of its management port', async () => {
    const readiness = { ready: true, shuttingDown: false, missing: [], store: 'answers', storeReached: true } as const;
    const management = createManagementServer(() => readiness, undefined, 8443);
    closers.push(() => management.close());
    await configure({ brokerUrl: await management.listen({ host: '127.0.0.1', port: 0 }) });
    const { code, check } = await doctor();
    expect(messagesOf(check('broker.access'), 'fault').join()).toContain(
      'this is the management port of a broker; its API is on port 8443 [HTTP 404, route_not_found]',
    );
    expect(check('broker.access').findings).toMatchObject([
      { faultClass: 'invalidInput', remedy: 'see host, port and path in broker.url' },
    ]);
    expect(code).toBe(2);
  });

  it('needs a broker whose certificate it trusts', async () => {
    const authority = new TestAuthority();
    const server = await LoopbackServer.https(authority.issue({ names: ['127.0.0.1'] }), (_request, response) => {
      response.end('{ "merchants": [] }');
    });
    closers.push(() => server.close());
    await configure({ brokerUrl: `https://127.0.0.1:${server.port}` });
    const { code, check } = await doctor();
    expect(messagesOf(check('broker.access'), 'fault').join()).toContain('not trusted');
    expect(code).toBe(3);
    await examined.write('ca.pem', authority.cert);
    await configure({ brokerUrl: `https://127.0.0.1:${server.port}`, broker: ', tls: { caFile: ca.pem }' });
    expect((await doctor()).check('broker.access').status).toBe('passed');
  });

  it('needs a token that the broker knows', async () => {
    await configure();
    await examined.write('token', 'another');
    const { code, check } = await doctor();
    expect(messagesOf(check('broker.access'), 'fault')).toEqual(['the broker does not know the egress']);
    expect(code).toBe(3);
  });

  it.each([
    ['session:read', /^there is no session of shop to pay with: .*\[HTTP 403, forbidden\]$/],
    ['session:reject', /^the egress lacks session:reject for shop$/],
    ['payload:decrypt', /^the egress lacks payload:decrypt for shop$/],
  ])('needs to be allowed %s, and is told of which merchants it may read', async (right, message) => {
    await configure();
    broker.allowed.delete(right);
    broker.merchants = [{ id: 'till' }, { id: 'kiosk' }];
    const { code, check } = await doctor();
    expect(messagesOf(check('broker.access'), 'fact').join()).toContain('knows the egress, which may read till, kiosk');
    expect(check('broker.session').findings.filter(({ level }) => level === 'fault')).toMatchObject([
      { message: expect.stringMatching(message) as string, remedy: expect.stringContaining('auth.policies') as string },
    ]);
    expect(code).toBe(3);
  });

  it('needs no right to open answers where nothing is sealed', async () => {
    await configure({ routes: '  routes: [{ path: /ecom/execute_request/hpp/**, body: clear }]' });
    broker.allowed.delete('payload:decrypt');
    expect((await doctor()).check('broker.session').status).toBe('passed');
    expect(broker.asked.filter((line) => line.includes('decrypt'))).toEqual([]);
  });

  it('needs a session, and is told why there is none', async () => {
    await configure();
    const cause = 'all 20 create calls of 10 min are spent';
    broker.session = [503, { code: 'session_unavailable', reason: 'budget_exhausted', cause }];
    const { code, check } = await doctor();
    expect(check('broker.session').findings).toMatchObject([
      {
        message: `there is no session of shop to pay with: ${cause} [HTTP 503, session_unavailable]`,
        remedy: expect.stringMatching(/^find what spent the calls; .* \(runbook: budget-exhausted\)$/),
      },
    ]);
    expect(code).toBe(4);
  });

  it('must not have the key that the bank knows, nor may its client', async () => {
    await configure();
    broker.thumbprint = (await importClientKey(aliasKey.privateJwk)).thumbprint;
    const own = await doctor();
    expect(messagesOf(own.check('keys'), 'fault')).toEqual(['aliasKeyFiles[0] is the client key of shop']);
    expect(own.code).toBe(2);
    broker.thumbprint = (await importClientKey(clientKey.privateJwk)).thumbprint;
    expect(messagesOf((await doctor()).check('keys'), 'fault')).toEqual([
      'publicKeyFile of plugin is the client key of shop',
    ]);
  });

  it('is looked at wherever its file is named from', async () => {
    await configure();
    const file = relative(process.cwd(), examined.path('egress.yaml'));
    expect((await examined.examine(file)).check('files').status).toBe('passed');
  });

  it('is not looked at with what is for a broker', async () => {
    await configure();
    const { code, text } = await examined.cli('doctor', examined.path('egress.yaml'), '--create-session');
    expect(code).toBe(2);
    expect(text).toContain('configures an egress: only --echo-url goes with it');
  });
});
