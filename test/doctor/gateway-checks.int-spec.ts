import type { IncomingMessage, ServerResponse } from 'node:http';
import { SystemClock } from '#libs/clock';
import { freePort, LoopbackServer, TestAuthority } from '#libs/testing';
import { type Examination, Examined, messagesOf } from './examined.js';
import { RunningSandbox } from '../sandbox/running-sandbox.js';

let examined: Examined;
const closers: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  examined = await Examined.create();
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await examined.remove();
});

async function sandbox(): Promise<RunningSandbox> {
  const running = await RunningSandbox.start(new SystemClock());
  closers.push(running.close);
  return running;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const NAMES = ['gateway.dns', 'gateway.tcp', 'gateway.tls', 'gateway.http', 'gateway.clock'];

describe('doctor: a gateway that is there', () => {
  it('is reached step by step, and nothing is created', async () => {
    const { url, calls } = await sandbox().then((running) => ({ url: running.url, calls: () => running.calls() }));
    await examined.configure([{ gatewayUrl: url }]);
    const { code, check, text } = await examined.doctor();
    expect(NAMES.map((name) => check(name).status)).toEqual(['passed', 'passed', 'not_applicable', 'passed', 'passed']);
    const createsAt = `${url}/api-gateway/authorize_virtual_device`;
    expect(check('gateway.http')).toMatchObject({
      subject: new URL(url).host,
      facts: { createsAt, httpStatus: 405 },
      findings: [{ level: 'fact', message: `creates sessions at ${createsAt}` }, {}],
    });
    expect(code).toBe(0);
    expect(JSON.parse(text)).toMatchObject({ ok: true, exitCode: 0, summary: { failed: 0, not_run: 0 } });
    expect((await calls()).calls.filter(({ operation }) => operation === 'authorize')).toEqual([]);
  });

  it('has a clock that is not ours', async () => {
    const running = await sandbox();
    await running.control('/settings', { method: 'PATCH', body: { skewMs: -90_000 } });
    await examined.configure([{ gatewayUrl: running.url }]);
    const { code, check } = await examined.doctor();
    expect(messagesOf(check('gateway.clock'), 'warning')).toEqual([
      expect.stringMatching(/ (89|90)\d{3} ms behind ours$/),
    ]);
    expect(code).toBe(0);
  });

  it('is looked at a single time for all merchants that reach it in the same way', async () => {
    const { url } = await sandbox();
    const second = { gatewayUrl: url, id: 'other', serviceCode: 'c0ffee00-0368-41ed-b939-0242ac120003' };
    const third = { ...second, id: 'third', serviceCode: 'c0ffee00-0368-41ed-b939-0242ac120004' };
    await examined.configure([{ gatewayUrl: url }, second, { ...third, gatewayUrl: `${url}/other` }]);
    const { checks } = await examined.doctor();
    const host = new URL(url).host;
    expect(checks.filter(({ name }) => name === 'gateway.http').map(({ subject }) => subject)).toEqual([
      `${host} (as for shop)`,
      `${host} (as for third)`,
    ]);
    const only = await examined.doctor('--merchant', 'other');
    expect(only.checks.filter(({ name }) => name === 'gateway.http')).toHaveLength(1);
  });
});

describe('doctor: an address that may be wrong', () => {
  it.each<[string, number, Record<string, string>, RegExp]>([
    ['is not there', 404, {}, /^404 is the answer of an address that is not there$/],
    ['is a web site', 200, { 'content-type': 'text/html' }, /^the answer is a page of HTML/],
    ['leads elsewhere', 302, { location: '/login' }, /^the address leads elsewhere/],
  ])('%s: a warning that names the whole of it', async (...[, status, headers, message]) => {
    const other = await LoopbackServer.http(
      (_request, response) => void response.writeHead(status, headers).end('<p>'),
    );
    closers.push(() => other.close());
    await examined.configure([{ gatewayUrl: `http://127.0.0.1:${other.port}/session` }]);
    const { code, check } = await examined.doctor();
    const address = `http://127.0.0.1:${other.port}/session/api-gateway/authorize_virtual_device`;
    expect(messagesOf(check('gateway.http'), 'warning')).toEqual([expect.stringMatching(message)]);
    expect(JSON.stringify(check('gateway.http'))).toContain(`compare ${address} with what the bank has told`);
    expect(code).toBe(0);
  });

  it('may be that of another service: a refusal without a code of the gateway', async () => {
    const body = JSON.stringify({ error: 'unauthorized' });
    const other = await LoopbackServer.http((_request, response) => void response.writeHead(401, JSON_TYPE).end(body));
    closers.push(() => other.close());
    await examined.configure([{ gatewayUrl: `http://127.0.0.1:${other.port}` }]);
    const { code, check } = await examined.doctor('--create-session');
    expect(JSON.stringify(check('session.create'))).toContain(
      'what answers does not look like the gateway, which says why by a code of its own: compare gateway.baseUrl',
    );
    expect(code).toBe(4);
  });

  it('is said to be wrong, and named, once a create call has found nothing there', async () => {
    const { url } = await sandbox();
    await examined.configure([{ gatewayUrl: `${url}/session` }]);
    const { code, check } = await examined.doctor('--create-session');
    expect(messagesOf(check('session.create'), 'fault')).toEqual([
      expect.stringMatching(
        /^no create call is taken at the address asked: gateway\.baseUrl is probably wrong, .* \(HTTP 404, b_service_unavailable\) \[request /,
      ),
    ]);
    expect(JSON.stringify(check('session.create'))).toContain(
      `this call went to ${url}/session/api-gateway/authorize_virtual_device`,
    );
    expect(code).toBe(4);
  });
});

describe('doctor: a gateway that is not', () => {
  it('is down: what follows is said not to have run', async () => {
    const port = await freePort();
    await examined.configure([{ gatewayUrl: `http://127.0.0.1:${port}` }]);
    const { code, check } = await examined.doctor('--create-session');
    expect(code).toBe(4);
    expect(JSON.stringify(check('session.create'))).toContain('see what the checks gateway.* say');
    expect(messagesOf(check('gateway.tcp'), 'fault')).toEqual([
      `nothing listens there (ECONNREFUSED to 127.0.0.1:${port})`,
    ]);
    expect(NAMES.slice(2).map((name) => check(name).status)).toEqual(['not_run', 'not_run', 'not_run']);
  });

  it('has no address', async () => {
    await examined.configure([{ gatewayUrl: 'http://no-such-gateway.invalid' }]);
    const { code, check } = await examined.doctor();
    expect(check('gateway.dns').status).toBe('failed');
    expect(check('gateway.tcp').reason).toBe('it needs gateway.dns, which failed');
    expect(code).toBe(4);
  });

  it('takes connections and says nothing: each check ends in its time', async () => {
    const silent = await LoopbackServer.tcp(() => undefined);
    closers.push(() => silent.close());
    await examined.configure([{ gatewayUrl: `http://127.0.0.1:${silent.port}` }]);
    const { code, check } = await examined.doctor();
    expect(messagesOf(check('gateway.http'), 'fault').join()).toContain('not complete after 2000 ms');
    expect(check('gateway.clock').status).toBe('not_run');
    expect(code).toBe(4);
  });

  it('shows no time: that is not known, and everything else is right', async () => {
    const timeless = await LoopbackServer.http((_request, response) => {
      response.sendDate = false;
      response.end();
    });
    closers.push(() => timeless.close());
    await examined.configure([{ gatewayUrl: `http://127.0.0.1:${timeless.port}` }]);
    const { code, check } = await examined.doctor();
    expect(check('gateway.clock')).toMatchObject({ status: 'not_run', reason: 'the answer has no Date header' });
    expect(code).toBe(6);
  });
});

describe('doctor: TLS to the gateway', () => {
  const authority = new TestAuthority();

  async function serve(notAfter?: Date): Promise<{ readonly url: string; readonly pin: string }> {
    const wish = { names: ['127.0.0.1'], ...(notAfter === undefined ? {} : { notAfter }) };
    const certificate = authority.issue(wish);
    const server = await LoopbackServer.https(certificate, (_request, response) => void response.end());
    closers.push(() => server.close());
    return { url: `https://127.0.0.1:${server.port}`, pin: `sha256/${certificate.spkiSha256}` };
  }

  it('is not spoken there: it says so once, and where to look', async () => {
    const { url } = await sandbox();
    await examined.configure([{ gatewayUrl: url.replace('http:', 'https:') }]);
    const { code, check } = await examined.doctor('--create-session');
    expect(code).toBe(2);
    expect(check('gateway.tls').findings).toMatchObject([
      {
        message: expect.stringContaining('no TLS is spoken there') as string,
        remedy: 'see scheme and port in baseUrl',
      },
    ]);
    expect(check('session.create').findings).toMatchObject([
      { remedy: 'see what the checks gateway.* say: the call did not get there' },
    ]);
  });

  it('is missing in the address: it says so, and where to look', async () => {
    const { url } = await serve();
    await examined.configure([{ gatewayUrl: url.replace('https:', 'http:') }]);
    const { code, check } = await examined.doctor('--create-session');
    expect(check('gateway.http').findings).toMatchObject([
      {
        message: `TLS is spoken there, although the address begins with http (${new URL(url).host})`,
        remedy: 'see scheme and port in baseUrl',
      },
    ]);
    expect(check('session.create').findings).toMatchObject([
      {
        message: `TLS is spoken there, although the address begins with http (${new URL(url).host})`,
        remedy: 'see what the checks gateway.* say: the call did not get there',
      },
    ]);
    expect(code).toBe(2);
    const created = await examined.cli('session', 'create', examined.config, '--merchant', 'shop');
    expect(created).toEqual({ code: 2, text: expect.stringContaining('TLS is spoken there') as string });
  });

  it('is not what is missing where a connection without it breaks off for another reason', async () => {
    const server = await LoopbackServer.tcp((socket) => void socket.once('data', () => socket.destroy()));
    closers.push(() => server.close());
    await examined.configure([{ gatewayUrl: `http://127.0.0.1:${server.port}` }]);
    const { code, check } = await examined.doctor();
    expect(messagesOf(check('gateway.http'), 'fault').join()).toContain('broke the call off');
    expect(code).toBe(4);
  });

  it('is not trusted: it shows what was presented, for whoever has to find what was changed', async () => {
    const { url, pin } = await serve();
    await examined.configure([{ gatewayUrl: url }]);
    const { code, check } = await examined.doctor();
    const { status, findings, facts } = check('gateway.tls');
    expect({ code, status }).toEqual({ code: 3, status: 'failed' });
    expect(findings[0]?.message).toMatch(/is not trusted/);
    expect(messagesOf(check('gateway.tls'), 'fact')[0]).toMatch(
      /^presented, and not trusted: .*; issued by .*=.*; \d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d; pin sha256\//,
    );
    expect(facts).toMatchObject({
      presented: expect.arrayContaining([
        expect.objectContaining({ pin, subject: expect.any(String) as string, endsAt: expect.any(String) as string }),
      ]) as object,
    });
  });

  it('passes with the right authority, tells the ends of the chain, and the pin', async () => {
    await examined.write('ca.pem', authority.cert);
    const { url, pin } = await serve();
    await examined.configure([{ gatewayUrl: url, gateway: 'tls: { caFile: ca.pem }' }]);
    const { code, check } = await examined.doctor();
    expect(check('gateway.tls')).toMatchObject({ status: 'passed', facts: { chain: [{ pin }, {}] } });
    expect(messagesOf(check('gateway.tls'), 'fact').join()).toContain(`its pin, should you want one: ${pin}`);
    expect(code).toBe(0);
  });

  it('warns of a certificate that ends soon, and of a single pin', async () => {
    await examined.write('ca.pem', authority.cert);
    const { url, pin } = await serve(new Date(Date.now() + 5.5 * 86_400_000));
    await examined.configure([{ gatewayUrl: url, gateway: `tls: { caFile: ca.pem, pins: ["${pin}"] }` }]);
    expect(messagesOf((await examined.doctor()).check('gateway.tls'), 'warning')).toEqual([
      expect.stringMatching(/^the gateway's certificate ends on .*, in 5 days$/),
      'only one key is pinned',
    ]);
  });

  it.each([
    ['another authority', 'stranger', undefined, 'UNABLE_TO_VERIFY'],
    ['an ended certificate', 'known', new Date('2021-01-01T00:00:00Z'), 'CERT_HAS_EXPIRED'],
  ])('fails for %s', async (...[, who, notAfter, mark]) => {
    await examined.write('ca.pem', who === 'known' ? authority.cert : new TestAuthority('Another').cert);
    const { url } = await serve(notAfter);
    await examined.configure([{ gatewayUrl: url, gateway: 'tls: { caFile: ca.pem }' }]);
    const { code, check } = await examined.doctor();
    expect(messagesOf(check('gateway.tls'), 'fault').join()).toContain(mark);
    expect(check('gateway.http').reason).toBe('it needs gateway.tls, which failed');
    expect(code).toBe(3);
  });
});

const MARKER = 'marker-b41d';

describe('doctor --echo-url', () => {
  let gateway: LoopbackServer;
  let echo: LoopbackServer;
  let asked: IncomingMessage[];
  let answer: (response: ServerResponse) => void;

  beforeEach(async () => {
    asked = [];
    gateway = await LoopbackServer.http((_request, response) => response.end());
    closers.push(() => gateway.close());
    echo = await LoopbackServer.http((request, response) => {
      asked.push(request);
      answer(response);
    });
    closers.push(() => echo.close());
  });

  const configure = (gatewayLines = ''): Promise<void> =>
    examined.configure([{ gatewayUrl: `http://127.0.0.1:${gateway.port}`, gateway: gatewayLines }]);
  const ask = async (...args: readonly string[]): Promise<Examination> => {
    const url = `http://127.0.0.1:${echo.port}/ip?plain=1`;
    return examined.doctor('--echo-url', url, ...args);
  };

  it('prints the address that the echo sees, and sends it nothing of the merchant', async () => {
    await configure();
    answer = (response) => response.end('203.0.113.7\n');
    const { check, text } = await ask();
    expect(check('gateway.address')).toMatchObject({ status: 'passed', facts: { address: '203.0.113.7', version: 4 } });
    expect(text).toContain('203.0.113.7');
    expect(asked.map(({ method, url }) => [method, url])).toEqual([['GET', '/ip?plain=1']]);
    expect(Object.keys(asked[0]?.headers ?? {}).sort()).toEqual([
      ...['accept', 'accept-encoding', 'connection', 'host', 'user-agent'],
    ]);
  });

  it('asks no echo unless it is told to', async () => {
    await configure();
    const { checks } = await examined.doctor();
    expect(checks.map(({ name }) => name)).not.toContain('gateway.address');
    expect(asked).toEqual([]);
  });

  it.each([
    ['IPv6', '2001:db8::7', 'the bank lets in IPv4 addresses'],
    ['private', '192.168.1.7', 'which the bank does not see'],
  ])('warns of an address that is %s', async (_what, address, message) => {
    await configure();
    answer = (response) => response.end(address);
    const { check } = await ask();
    expect(check('gateway.address').status).toBe('warned');
    expect(JSON.stringify(check('gateway.address').findings)).toContain(message);
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['a page', (response) => response.end(`<html>${MARKER}`)],
    ['an address and more', (response) => response.end(`203.0.113.7 ${MARKER}`)],
    ['JSON', (response) => response.end(`{"ip":"203.0.113.7","m":"${MARKER}"}`)],
    ['nothing', (response) => response.end()],
    ['an address with a zone', (response) => response.end('fe80::1%eth0')],
    ['an address under another status', (response) => response.writeHead(500).end('203.0.113.7')],
    ['an address after a long run of blanks', (response) => response.end(`${' '.repeat(1_000_000)}203.0.113.7`)],
  ])('fails on %s, and repeats nothing of it', async (_what, answers) => failsAs('invalidAnswer', answers));

  it('fails on a redirect as on an address that is wrong, and repeats nothing of it', async () =>
    failsAs('invalidInput', (response) => response.writeHead(302, { location: `/${MARKER}` }).end('203.0.113.7')));

  async function failsAs(faultClass: string, answers: (response: ServerResponse) => void): Promise<void> {
    await configure();
    answer = answers;
    const { check, text } = await ask();
    expect(check('gateway.address')).toMatchObject({ status: 'failed', findings: [{ faultClass }] });
    expect(text).not.toContain(MARKER);
    expect(asked).toHaveLength(1);
  }

  it('gives up an echo that does not answer in the time of a gateway call', async () => {
    await configure();
    answer = () => undefined;
    const { check } = await ask();
    expect(check('gateway.address')).toMatchObject({ status: 'failed', findings: [{ faultClass: 'tryLater' }] });
  });

  it.each([
    ['where nothing listens', async () => `http://127.0.0.1:${await freePort()}/ip`, 'ECONNREFUSED', 'tryLater'],
    ['that has no TLS', () => `https://127.0.0.1:${echo.port}/`, 'ERR_SSL_WRONG_VERSION_NUMBER', 'invalidInput'],
    ['that redirects', () => `http://127.0.0.1:${echo.port}/`, '[HTTP 302]', 'invalidInput'],
    ['that answers with a page', () => `http://127.0.0.1:${echo.port}/page`, '[HTTP 200]', 'invalidAnswer'],
  ])('blames an echo %s, and neither the gateway nor the bank', async (...[, urlOf, mark, faultClass]) => {
    await configure();
    answer = (response) => response.writeHead(asked[0]?.url === '/page' ? 200 : 302).end('<html>');
    const url = await urlOf();
    const { check } = await examined.doctor('--echo-url', url);
    const [finding] = check('gateway.address').findings;
    expect(finding).toMatchObject({ faultClass, remedy: expect.stringContaining('--echo-url') });
    expect(finding?.message).toMatch(new RegExp(`^the echo at ${new URL(url).host}: `));
    expect(finding?.message).toContain(mark);
    expect(finding?.message).not.toMatch(/bank|gateway|firewall|baseUrl/);
    expect(finding?.message).not.toContain(`:${gateway.port}`);
  });

  it('asks an echo without TLS for a production gateway, too: it is told nothing', async () => {
    await examined.configure([{ gatewayUrl: 'https://127.0.0.1:1', environment: 'production' }]);
    answer = (response) => response.end('203.0.113.7');
    expect((await ask()).check('gateway.address').status).toBe('passed');
  });

  it('goes by the proxy of the gateway calls, and by no other way', async () => {
    const proxy = await LoopbackServer.http((_request, response) => response.writeHead(502).end());
    await configure(`proxy: 'http://127.0.0.1:${proxy.port}'`);
    const { check } = await ask('--merchant', 'shop');
    await proxy.close();
    expect(check('gateway.address').status).toBe('failed');
    expect(messagesOf(check('gateway.address'), 'fault').join()).toContain(`the proxy 127.0.0.1:${proxy.port}`);
    expect(proxy.connections).toBeGreaterThan(0);
    expect(asked).toEqual([]);
  });

  it.each(['ftp://a', 'https://user@a', 'https://a#b', 'a'])(
    'refuses the URL %s before anything is sent',
    async (url) => {
      await configure();
      const { code, text } = await examined.doctor('--echo-url', url);
      expect(code).toBe(2);
      expect(text).toContain('--echo-url is an http or https URL');
    },
  );
});
