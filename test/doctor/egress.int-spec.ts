import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
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
  readonly managementPort?: number;
  readonly broker?: string;
  readonly routes?: string;
}

async function configure({ gatewayUrl, brokerUrl, managementPort, ...more }: Differences = {}): Promise<void> {
  await examined.write(
    'egress.yaml',
    `egress:
  management: { port: ${managementPort ?? (await freePort())} }
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

const doctor = (): Promise<Examination> => examined.examine('--egress', examined.path('egress.yaml'));

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
    expect(check('management').status).toBe('not_applicable');
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain(ALIAS);
    expect((await gateway.calls()).calls.filter(({ operation }) => operation === 'authorize')).toEqual([]);
  });

  it('is told of a certificate that is not that of its key by the check of certificates, too', async () => {
    const [own, another] = [new TestAuthority(), new TestAuthority()].map((each) => each.issue({ names: ['egress'] }));
    await examined.write('own.pem', own?.cert ?? '');
    await examined.write('own.key', another?.key ?? '');
    await configure({
      brokerUrl: `https://127.0.0.1:${await freePort()}`,
      broker: ', tls: { certFile: own.pem, keyFile: own.key }',
    });
    expect(messagesOf((await doctor()).check('certificates'), 'fault')).toEqual([
      'egress.broker.tls.certFile: the certificate is not that of the key beside it',
    ]);
  });

  it('is told which file the egress would not start with, and has all looked at that does not need it', async () => {
    await configure();
    await examined.write('plugin.json', '{}');
    const { code, checks, check } = await doctor();
    expect(messagesOf(check('configuration'), 'fault').join()).toContain('egress.clients[1].publicKeyFile');
    expect(check('keys').reason).toBe(
      'it needs the file of egress.clients[1].publicKeyFile, with which something is wrong',
    );
    expect(checks.filter(({ status }) => status === 'not_run').map(({ name }) => name)).toEqual(['keys']);
    expect(check('broker.session')).toMatchObject({ status: 'passed', subject: 'shop' });
    expect(check('management').status).toBe('not_applicable');
    expect(code).toBe(2);
  });

  it.each([
    [
      'a setting of the broker',
      'tokenFile',
      'tokenFiel',
      'egress.broker.tokenFiel',
      ['broker.access', 'broker.session', 'keys'],
    ],
    [
      'a setting of the gateway',
      'timeout: 2s',
      'timeout: 2sec',
      'egress.gateway.timeout',
      ['gateway.dns', 'gateway.clock'],
    ],
    ['a port', /port: \d+/, 'port: many', 'egress.management.port', ['management']],
    ['a rule between settings', 'aliasKeyFiles: [alias.json]', 'aliasKeyFiles: []', 'egress.aliasKeyFiles', ['keys']],
    ['a name that is not known', 'aliasKeyFiles:', 'aliasKeyFile:', 'egress.aliasKeyFile', ['keys']],
    ['all clients', /clients:[^]*/, 'clients: none', 'egress.clients', ['broker.session', 'keys']],
    [
      'the routes',
      'clients:',
      'routes: [{ path: no, body: clear }]\n  clients:',
      'egress.routes[0].path',
      ['broker.session'],
    ],
    ['the token of a client', /sha256: \w+/, 'sha256: no', undefined, []],
  ])('has all looked at that does not need what is at fault: %s', async (...[, from, to, setting, names]) => {
    await configure();
    const text = await readFile(examined.path('egress.yaml'), 'utf8');
    expect(text).toMatch(from);
    await examined.write('egress.yaml', text.replace(from, to));
    const { code, checks, check } = await doctor();
    expect([code, check('configuration').status]).toEqual([2, 'failed']);
    const notRun = checks.filter(({ status }) => status === 'not_run');
    expect(notRun.map(({ name }) => name)).toEqual(expect.arrayContaining([...names]));
    expect(new Set(notRun.map(({ name }) => name.split('.')[0]))).toEqual(
      new Set(names.map((name) => name.split('.')[0])),
    );
    for (const { reason } of notRun) expect(reason).toMatch(/^it needs (?:egress\.\w|broker\.access)/);
    if (setting !== undefined) expect(notRun[0]?.reason).toContain(setting);
  });

  it('asks the broker about the other clients where the merchant of one is not known, and nothing where its file is none', async () => {
    await configure();
    const text = await readFile(examined.path('egress.yaml'), 'utf8');
    await examined.write(
      'egress.yaml',
      text.replace('name: orders, merchant: shop', 'name: orders, merchant: "${NOBODY}"'),
    );
    const { checks } = await doctor();
    expect(checks.filter(({ name }) => name === 'broker.session')).toMatchObject([
      { subject: 'shop', status: 'passed' },
      { subject: 'egress.clients[0]', status: 'not_run', reason: 'it needs NOBODY, which is not set' },
    ]);
    broker.asked.length = 0;
    await examined.write('egress.yaml', 'egress:\n');
    const nothing = await doctor();
    expect(nothing.check('broker.access').reason).toBe('it needs egress, which is at fault');
    expect(broker.asked).toEqual([]);
  });

  it('is told on which page the settings are, where sections stand at the top of the file', async () => {
    await examined.write('egress.yaml', 'listen: { port: 8443 }\nmanagement: { port: 9466 }\n');
    const { check } = await doctor();
    expect(messagesOf(check('configuration'), 'fault').join()).toContain(
      'listen (line 1) is not a setting; known here: egress',
    );
    const remedies = check('configuration').findings.map(({ remedy }) => remedy);
    expect(new Set(remedies)).toEqual(new Set(['see docs/egress-configuration.md']));
  });

  it('needs a broker that is there', async () => {
    await configure({ brokerUrl: `http://127.0.0.1:${await freePort()}` });
    const { code, check } = await doctor();
    expect(messagesOf(check('broker.access'), 'fault').join()).toMatch(/^nothing listens there \(ECONNREFUSED to /);
    expect(check('broker.session').reason).toBe('it needs broker.access, which failed');
    expect(check('gateway.http').status).toBe('passed');
    expect(code).toBe(4);
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

  it.each([
    ['a page', 200],
    ['nothing', 204],
    ['that it has no such page', 404],
  ])('is told when what answers at the address of the broker, with %s, is none', async (_what, status) => {
    const server = await LoopbackServer.http((_request, response) => {
      response.writeHead(status).end(status === 204 ? undefined : '<html>');
    });
    closers.push(() => server.close());
    await configure({ brokerUrl: `http://127.0.0.1:${server.port}` });
    const { code, check } = await doctor();
    expect(messagesOf(check('broker.access'), 'fault')).toEqual([
      `127.0.0.1:${server.port} does not answer as a broker [HTTP ${status}]`,
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

  it.each([
    { as: 'a redirect', status: 302, body: '', warnings: ['the address leads elsewhere, where no call follows'] },
    {
      as: 'a page',
      status: 200,
      body: '<html><p>portal</p></html>',
      warnings: ['the answer is a page of HTML, as of a web site or a firewall'],
    },
    { as: 'nothing there', status: 404, body: '<html>nginx</html>', warnings: [] },
    { as: 'JSON', status: 401, body: '{}', warnings: [] },
  ])('is warned of an address that answers GET as no gateway does: $as', async ({ status, body, warnings }) => {
    const server = await LoopbackServer.http((_request, response) => {
      response.writeHead(status, { location: '/elsewhere', 'content-type': 'text/html' }).end(body);
    });
    closers.push(() => server.close());
    const gatewayUrl = `http://127.0.0.1:${server.port}`;
    await configure({ gatewayUrl });
    const { code, check } = await doctor();
    expect(code).toBe(0);
    expect(messagesOf(check('gateway.http'), 'warning')).toEqual(warnings);
    const remedies = check('gateway.http').findings.flatMap(({ remedy }) => remedy ?? []);
    expect(remedies).toEqual(warnings.map(() => `compare ${gatewayUrl}/ with what the bank has told`));
  });

  it('is told that the file of its token has none, and asks the broker nothing', async () => {
    await configure();
    await examined.write('token', '\n');
    const { code, check } = await doctor();
    expect(messagesOf(check('configuration'), 'fault')).toEqual([
      expect.stringMatching(/^egress\.broker\.tokenFile \(line \d+\) names a file that holds no token: it is empty$/),
    ]);
    expect(check('broker.access')).toMatchObject({
      status: 'not_run',
      reason: 'it needs the file of egress.broker.tokenFile, with which something is wrong',
    });
    expect(code).toBe(2);
    expect(broker.asked).toEqual([]);
  });

  it('needs a token that the broker knows', async () => {
    await configure();
    await examined.write('token', 'another');
    const { code, check } = await doctor();
    expect(messagesOf(check('broker.access'), 'fault')).toEqual(['the broker does not know who the egress is']);
    expect(code).toBe(3);
  });

  it('asks the broker nothing without its token file', async () => {
    await configure();
    await rm(examined.path('token'));
    const { code, check } = await doctor();
    const reason = 'it needs broker.tokenFile, which does not exist; check the path';
    expect(check('broker.access')).toMatchObject({ status: 'not_run', reason });
    expect(check('files').status).toBe('failed');
    expect(broker.asked).toEqual([]);
    expect(code).toBe(2);
  });

  it('is not taken for a broker, nor a broker for it, nor for something that renews', async () => {
    await configure();
    await examined.configure([{ gatewayUrl: gateway.url }]);
    const egress = examined.path('egress.yaml');
    for (const [args, words] of [
      [['doctor', '--config', egress], `${egress} is the file of an egress: doctor --egress ${egress}`],
      [['doctor', '--egress', examined.config], `is the file of a broker: doctor --config ${examined.config}`],
      [['simulate', '--config', egress], 'is the file of an egress, which renews nothing: name that of its broker'],
    ] as const) {
      const { code, text } = await examined.cli(...args);
      expect({ code, lines: text.split('\n').length }).toEqual({ code: 2, lines: 1 });
      expect(text).toContain(words);
    }
  });

  it.each([
    [[{ id: 'shops' }], 'did you mean shops?'],
    [[{ id: 'till' }, { id: 'kiosk' }], 'it may read till, kiosk'],
    [[], 'it may read none at all'],
  ])('says of a merchant that it may not read which ones it may: %j', async (merchants, said) => {
    await configure();
    broker.allowed.delete('session:read');
    broker.merchants = merchants;
    const { code, check } = await doctor();
    expect(check('broker.session').findings).toMatchObject([
      {
        message: `the egress may not session:read for shop, or there is no such merchant; ${said}`,
        remedy: "correct merchant of the client, or allow it in the broker's auth.policies",
      },
    ]);
    expect(code).toBe(3);
  });

  it.each(['session:reject', 'payload:decrypt'])('needs to be allowed %s', async (right) => {
    await configure();
    broker.allowed.delete(right);
    const { code, check } = await doctor();
    expect(messagesOf(check('broker.session'), 'fault')).toEqual([`the egress may not ${right} for shop`]);
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
    broker.session = [503, { code: 'session_unavailable', reason: 'budget_exhausted' }];
    const { code, check } = await doctor();
    expect(messagesOf(check('broker.session'), 'fault')).toEqual([
      'there is no session to pay with [HTTP 503, session_unavailable, budget_exhausted]',
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

  it('is told of a gateway that is down', async () => {
    await configure({ gatewayUrl: `http://127.0.0.1:${await freePort()}` });
    const { code, check } = await doctor();
    expect(check('gateway.tcp').status).toBe('failed');
    expect(code).toBe(4);
  });

  it.each([
    [200, 'passed'],
    [503, 'warned'],
  ])('that runs and answers %i has %s', async (status, verdict) => {
    const management = await LoopbackServer.http((_request, response) => void response.writeHead(status).end());
    closers.push(() => management.close());
    await configure({ managementPort: management.port });
    expect((await doctor()).check('management').status).toBe(verdict);
  });

  it('is looked at wherever its file is named from', async () => {
    await configure();
    const file = relative(process.cwd(), examined.path('egress.yaml'));
    expect((await examined.examine('--egress', file)).check('files').status).toBe('passed');
  });

  it('is known by its root member, without an option that says so', async () => {
    await configure();
    const { checks } = await examined.examine(examined.path('egress.yaml'));
    const names = (all: typeof checks): readonly string[] => all.map(({ name }) => name);
    expect(names(checks)).toContain('broker.access');
    expect(names(checks)).toEqual(names((await doctor()).checks));
  });

  it('is not looked at together with a broker, or with what is for a broker', async () => {
    await configure();
    const file = examined.path('egress.yaml');
    expect((await examined.cli('doctor')).code).toBe(64);
    expect((await examined.cli('doctor', '--egress', file, '--config', file)).code).toBe(64);
    expect((await examined.cli('doctor', '--egress', file, '--create-session')).code).toBe(64);
    expect((await examined.cli('doctor', '--egress', file, file)).code).toBe(64);
    expect((await examined.cli('doctor', file, '--create-session')).code).toBe(64);
  });
});
