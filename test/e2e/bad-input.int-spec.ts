import { once } from 'node:events';
import { endedAfterAll, eventually } from '#libs/testing';
import { RawConnection } from '../egress/raw-exchange.js';
import { bodyOf, call, problem } from './call.js';
import { RunningBroker, SERVICE_CODE, TOKENS } from './running-broker.js';

const PATH = '/v1/merchants/shop/session';
const REJECTIONS = `${PATH}/rejections`;

interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

describe('bad input', () => {
  let broker: RunningBroker;
  let secrets: string[] = [];

  const started = endedAfterAll();
  beforeAll(async () => {
    broker = started.add(await RunningBroker.start(), (it) => it.close());
    const session = await broker.get(PATH, { prefer: 'wait=60' }).then(bodyOf<Record<string, string>>);
    secrets = [session['authToken'], session['deviceId'], session['refreshToken']].filter((text) => text !== undefined);
    secrets.push(SERVICE_CODE, ...Object.values(TOKENS));
  });

  /** Sends bytes as they are: clients would repair what a test wants to be broken. */
  async function sendRaw(octets: string): Promise<RawAnswer> {
    const connection = await RawConnection.to(broker.url);
    connection.write(octets);
    await once(connection.socket, 'close');
    const [head = '', body = ''] = connection.received.split('\r\n\r\n', 2);
    return { status: Number(connection.statuses[0]), head, body };
  }

  const authorized = `Host: x\r\nAuthorization: Bearer ${TOKENS.checkout}\r\nConnection: close\r\n`;

  async function expectProblem(answer: Promise<RawAnswer>, status: number, code: string): Promise<void> {
    const { status: got, head, body } = await answer;
    expect([got, body]).toEqual([status, expect.stringContaining(`"code":"${code}"`)]);
    expect(head.toLowerCase()).toContain('content-type: application/problem+json');
    expect(head.toLowerCase()).toMatch(/x-request-id: [\w-]+/);
    for (const secret of secrets) expect(head + body).not.toContain(secret);
    expect((await broker.get(PATH)).status).toBe(200);
  }

  const table: Record<string, [request: string, status: number, code: string]> = {
    'a page of the documentation that is none': [
      `GET /docs/none.js HTTP/1.1\r\n${authorized}\r\n`,
      404,
      'route_not_found',
    ],
    'a NUL in the documentation': [`GET /docs/%00 HTTP/1.1\r\n${authorized}\r\n`, 404, 'route_not_found'],
    'a prototype as merchant': [`GET /v1/merchants/__proto__/session HTTP/1.1\r\n${authorized}\r\n`, 403, 'forbidden'],
    'headers that are too large': [
      `GET ${PATH} HTTP/1.1\r\n${authorized}X-Filler: ${'a'.repeat(20_000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    'two hosts': [`GET ${PATH} HTTP/1.1\r\n${authorized}host: y\r\n\r\n`, 400, 'invalid_request'],
    'extensions of chunks without an end': [
      `POST ${REJECTIONS} HTTP/1.1\r\n${authorized}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2;${'a'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
      413,
      'payload_too_large',
    ],
    'no HTTP at all': ['\x16\x03\x01\x02\x00 hello\r\n\r\n', 400, 'invalid_request'],
  };

  it.each(Object.entries(table))('%s gets a problem of the right status', async (_name, [octets, status, code]) => {
    await expectProblem(sendRaw(octets), status, code);
  });

  it.each([
    { path: 'payloads/encrypt', body: "{'plaintext':'canary'}", detail: 'the body is not JSON' },
    { path: 'session/rejections', body: '', detail: 'the body is empty, and is to be JSON' },
  ])('says what is wrong with the body $body of $path, and repeats nothing of it', async ({ path, body, detail }) => {
    const answer = await broker.post(`/v1/merchants/shop/${path}`, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'invalid_request', detail });
    expect(answer.text).not.toContain('canary');
  });

  it('says where to look when a header is broken by a line break, and that a path cannot be decoded', async () => {
    const broken = await sendRaw(`GET ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer can\rary\r\n\r\n`);
    expect(broken.body).toContain('"detail":"this cannot be read as HTTP: is there a line break in a header, or');
    expect(broken.body).not.toContain('ary"');
    const path = await sendRaw(`GET /v1/merchants/%zz/session HTTP/1.1\r\n${authorized}\r\n`);
    expect(path.body).toContain('"detail":"the path cannot be decoded"');
  });

  it('says which methods there are', async () => {
    const headers = { authorization: `Bearer ${TOKENS.checkout}` };
    const refused = { ...problem(405, 'method_not_allowed'), headers: { allow: 'GET, HEAD' } };
    expect(await call(broker.url + PATH, { method: 'PUT', headers })).toMatchObject(refused);
  });

  it('asks a caller for the body that it holds back', async () => {
    const type = 'Content-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue';
    const connection = await RawConnection.to(broker.url);
    connection.write(`POST ${REJECTIONS} HTTP/1.1\r\n${authorized}${type}\r\n\r\n`);
    await eventually(() => connection.received === 'HTTP/1.1 100 Continue\r\n\r\n');
    connection.write('{}');
    await eventually(() => connection.isClosed);
    expect(connection.received).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 403 [^]*"code":"forbidden"/);
  });

  it('answers the same for a merchant outside the policy as for an unknown one', async () => {
    const bodyOf = async (merchant: string): Promise<object> => {
      const { status, text } = await broker.get(`/v1/merchants/${merchant}/session`, { 'x-request-id': 'same' });
      return { status, text };
    };
    expect(await bodyOf('hidden')).toEqual(await bodyOf('nobody'));
  });

  it('serves the contract and its pages without a token, and nothing else', async () => {
    expect((await broker.get('/openapi.json', {}, '')).status).toBe(200);
    const page = { 'content-type': expect.stringMatching(/^text\/html/) as string };
    expect(await broker.get('/docs', {}, '')).toMatchObject({ status: 200, headers: page });
    const { status, head } = await sendRaw(`GET /docs HTTP/1.1\r\n${authorized}\r\n`);
    expect([status, /^connection: (\S+)/im.exec(head)?.[1]]).toEqual([200, 'close']);
    // As a browser sends them: it resolves the dots itself if it recognises them.
    expect((await broker.get('/docs/../v1/merchants', {}, '')).status).toBe(401);
    expect((await broker.get('/docs/%2e%2e/v1/merchants', {}, '')).status).not.toBe(200);
  });

  it('lets its pages load nothing of others, and be opened by none', async () => {
    const { status, headers } = await broker.get('/docs', {}, '');
    expect(status).toBe(200);
    const policy = String(headers['content-security-policy']);
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining(["default-src 'self'", "object-src 'none'", "base-uri 'none'"]),
    );
    expect(headers['cross-origin-opener-policy']).toBe('same-origin');
  });

  it('serves nothing of the API on the management port, and forbids a browser everything there', async () => {
    const served = { '/livez': 200, '/readyz': 200, '/v1/merchants': 404, '/docs': 404, '/livez/../readyz/x': 404 };
    for (const [path, status] of Object.entries(served)) {
      const { headers, ...answer } = await call(broker.managementUrl + path);
      expect([path, answer.status, headers['x-content-type-options']]).toEqual([path, status, 'nosniff']);
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; base-uri 'none'/);
    }
  });

  it('refuses TRACE on both ports', async () => {
    for (const url of [broker.url + PATH, `${broker.managementUrl}/livez`]) {
      const { status, text } = await call(url, { method: 'TRACE', headers: { 'x-secret': 'a-secret' } });
      expect([400, 401, 404, 405]).toContain(status);
      expect(text).not.toContain('a-secret');
    }
  });

  it('has left no secret in the log', () => {
    const log = broker.lines.join('');
    expect(log).toContain('session renewed');
    expect(log).toContain('request refused');
    for (const secret of secrets) expect(log).not.toContain(secret);
  });
});

const REBOUND = 'rebound.example';
/** What a browser adds when a page calls its own origin: to the browser, a rebound name is just that. */
const AS_OWN_PAGE = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' };

describe('a name of somebody else that leads to a broker which asks for no credential', () => {
  let open: RunningBroker;

  const started = endedAfterAll();
  beforeAll(async () => {
    const setUp = { authDisabled: true, http: 'hosts: [broker.shop.example]' };
    open = started.add(await RunningBroker.start(setUp), (it) => it.close());
    await call(open.url + PATH, { headers: { prefer: 'wait=60' } }).then(bodyOf);
  });

  it.each([
    ['the API', 'url', PATH],
    ['its pages', 'url', '/docs'],
    ['liveness', 'managementUrl', '/livez'],
    ['the status page', 'managementUrl', '/'],
  ] as const)('reaches nothing of %s, whatever the page claims to be', async (_what, place, path) => {
    const type = { 'content-type': expect.stringMatching(/^application\/problem\+json/) as string };
    const refused = { ...problem(421, 'misdirected_request'), headers: type };
    for (const more of [{}, AS_OWN_PAGE])
      expect(await call(open[place] + path, { headers: { host: REBOUND, ...more } })).toMatchObject(refused);
  });

  it('does nothing either', async () => {
    const held = await call(open.url + PATH);
    const rejection = { headers: { host: REBOUND, ...AS_OWN_PAGE }, body: { generation: held.body['generation'] } };
    expect((await call(`${open.url}${PATH}/rejections`, rejection)).status).toBe(421);
    const headers = { 'if-none-match': held.headers['etag'] ?? '' };
    expect((await call(open.url + PATH, { headers })).status).toBe(304);
  });

  it('is none that the configuration names, also once that has changed', async () => {
    const statusFor = async (host: string): Promise<number> =>
      (await call(open.url + PATH, { headers: { host } })).status;
    expect(await statusFor('broker.shop.example:443')).toBe(200);
    expect(await statusFor('other.shop.example')).toBe(421);
    await open.edit(['hosts: [broker.shop.example]', 'hosts: [broker.shop.example, other.shop.example]']);
    await open.reload();
    expect(await statusFor('other.shop.example')).toBe(200);
  });
});

describe('a broker that asks for a credential', () => {
  const started = endedAfterAll();

  it('is asked by any name: that of its service, its ingress, or its mesh', async () => {
    const broker = started.add(await RunningBroker.start(), (it) => it.close());
    expect((await broker.get(PATH, { prefer: 'wait=60', host: 'broker.payments.svc' })).status).toBe(200);
    expect((await broker.get(PATH, { host: REBOUND }, '')).status).toBe(401);
    expect((await call(`${broker.managementUrl}/metrics`, { headers: { host: REBOUND } })).status).toBe(421);
  });
});
