import { once } from 'node:events';
import request, { type Test } from 'supertest';
import { endedAfterAll, eventually } from '#libs/testing';
import { RawConnection } from '../egress/raw-exchange.js';
import { problem, RunningBroker, SERVICE_CODE, TOKENS } from './running-broker.js';

const PATH = '/v1/merchants/shop/session';
const REJECTIONS = `${PATH}/rejections`;

interface Answer {
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
    const { body } = await broker.as(TOKENS.checkout).get(PATH).set('prefer', 'wait=60').expect(200);
    const session = body as Record<string, string>;
    secrets = [session['authToken'], session['deviceId'], session['refreshToken']].filter((text) => text !== undefined);
    secrets.push(SERVICE_CODE, ...Object.values(TOKENS));
  });

  /** Sends bytes as they are: clients would repair what a test wants to be broken. */
  async function sendRaw(octets: string): Promise<Answer> {
    const connection = await RawConnection.to(broker.url);
    connection.write(octets);
    await once(connection.socket, 'close');
    const [head = '', body = ''] = connection.received.split('\r\n\r\n', 2);
    return { status: Number(connection.statuses[0]), head, body };
  }

  const authorized = `Host: x\r\nAuthorization: Bearer ${TOKENS.checkout}\r\nConnection: close\r\n`;

  async function expectProblem(answer: Promise<Answer>, status: number, code: string): Promise<void> {
    const { status: got, head, body } = await answer;
    expect([got, body]).toEqual([status, expect.stringContaining(`"code":"${code}"`)]);
    expect(head.toLowerCase()).toContain('content-type: application/problem+json');
    expect(head.toLowerCase()).toMatch(/x-request-id: [\w-]+/);
    for (const secret of secrets) expect(head + body).not.toContain(secret);
    await broker.as(TOKENS.checkout).get(PATH).expect(200);
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
    const told = await answer.text();
    expect(JSON.parse(told)).toMatchObject({ code: 'invalid_request', detail });
    expect(told).not.toContain('canary');
  });

  it('says where to look when a header is broken by a line break, and that a path cannot be decoded', async () => {
    const broken = await sendRaw(`GET ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer can\rary\r\n\r\n`);
    expect(broken.body).toContain('"detail":"this cannot be read as HTTP: is there a line break in a header, or');
    expect(broken.body).not.toContain('ary"');
    const path = await sendRaw(`GET /v1/merchants/%zz/session HTTP/1.1\r\n${authorized}\r\n`);
    expect(path.body).toContain('"detail":"the path cannot be decoded"');
  });

  it('says which methods there are', async () => {
    const refused = broker.as(TOKENS.checkout).put(PATH).expect(405).expect('allow', 'GET, HEAD');
    await refused.expect(problem('method_not_allowed'));
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
      const caller = broker.as(TOKENS.checkout).set('x-request-id', 'same');
      const { status, text } = await caller.get(`/v1/merchants/${merchant}/session`);
      return { status, text };
    };
    expect(await bodyOf('hidden')).toEqual(await bodyOf('nobody'));
  });

  it('serves the contract and its pages without a token, and nothing else', async () => {
    const anybody = request(broker.url);
    await anybody.get('/openapi.json').expect(200);
    await anybody
      .get('/docs')
      .expect(200)
      .expect('content-type', /^text\/html/);
    const { status, head } = await sendRaw(`GET /docs HTTP/1.1\r\n${authorized}\r\n`);
    expect([status, /^connection: (\S+)/im.exec(head)?.[1]]).toEqual([200, 'close']);
    // As a browser sends them: it resolves the dots itself if it recognises them.
    expect((await broker.get('/docs/../v1/merchants', {}, '')).status).toBe(401);
    expect((await broker.get('/docs/%2e%2e/v1/merchants', {}, '')).status).not.toBe(200);
  });

  it('lets its pages load nothing of others, and be opened by none', async () => {
    const { headers } = await request(broker.url).get('/docs').expect(200);
    const policy = String(headers['content-security-policy']);
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining(["default-src 'self'", "object-src 'none'", "base-uri 'none'"]),
    );
    expect(headers['cross-origin-opener-policy']).toBe('same-origin');
  });

  it('serves nothing of the API on the management port, and forbids a browser everything there', async () => {
    const served = { '/livez': 200, '/readyz': 200, '/v1/merchants': 404, '/docs': 404, '/livez/../readyz/x': 404 };
    for (const [path, status] of Object.entries(served)) {
      const { headers } = await request(broker.managementUrl).get(path).expect(status);
      expect([path, headers['x-content-type-options']]).toEqual([path, 'nosniff']);
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; base-uri 'none'/);
    }
  });

  it('refuses TRACE on both ports', async () => {
    for (const url of [broker.url + PATH, `${broker.managementUrl}/livez`]) {
      const { status, text } = await request(url).trace('').set('x-secret', 'a-secret');
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
    await request(open.url).get(PATH).set('prefer', 'wait=60').expect(200);
  });

  it.each([
    ['the API', 'url', PATH],
    ['its pages', 'url', '/docs'],
    ['liveness', 'managementUrl', '/livez'],
    ['the status page', 'managementUrl', '/'],
  ] as const)('reaches nothing of %s, whatever the page claims to be', async (_what, place, path) => {
    const ask = (): Test => request(open[place]).get(path).set('host', REBOUND).redirects(0);
    await ask()
      .expect(421)
      .expect('content-type', /^application\/problem\+json/)
      .expect(problem('misdirected_request'));
    await ask().set(AS_OWN_PAGE).expect(421).expect(problem('misdirected_request'));
  });

  it('does nothing either', async () => {
    const generation = await request(open.url)
      .get(PATH)
      .then(({ body }) => (body as { generation: number }).generation);
    const reject = request(open.url).post(`${PATH}/rejections`).set('host', REBOUND).set(AS_OWN_PAGE);
    await reject.send({ generation }).expect(421);
    await request(open.url).get(PATH).set('if-none-match', `"${generation}"`).expect(304);
  });

  it('is none that the configuration names, also once that has changed', async () => {
    const ask = (host: string): Test => request(open.url).get(PATH).set('host', host);
    await ask('broker.shop.example:443').expect(200);
    await ask('other.shop.example').expect(421);
    await open.edit(['hosts: [broker.shop.example]', 'hosts: [broker.shop.example, other.shop.example]']);
    await open.reload();
    await ask('other.shop.example').expect(200);
  });
});

describe('a broker that asks for a credential', () => {
  const started = endedAfterAll();

  it('is asked by any name: that of its service, its ingress, or its mesh', async () => {
    const broker = started.add(await RunningBroker.start(), (it) => it.close());
    const ask = (): Test => broker.as('token-of-checkout').get(PATH).set('prefer', 'wait=60');
    await ask().set('host', 'broker.payments.svc').expect(200);
    await request(broker.url).get(PATH).set('host', REBOUND).expect(401);
    await request(broker.managementUrl).get('/metrics').set('host', REBOUND).expect(421);
  });
});
