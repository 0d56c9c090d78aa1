import type { IncomingMessage, ServerResponse } from 'node:http';
import { SystemClock } from '#libs/clock';
import { LoopbackServer, TestAuthority } from '#libs/testing';
import { type Examination, Examined, messagesOf } from './examined.js';
import { RunningSandbox } from '../sandbox/running-sandbox.js';

// What is found by played looks, and what is said of each: apps/cli/src/doctor/gateway-checks.spec.ts.
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
      findings: [{ level: 'fact', message: expect.stringContaining(`GET of ${createsAt} is answered 405`) as string }],
    });
    expect(code).toBe(0);
    expect(JSON.parse(text)).toMatchObject({ ok: true, exitCode: 0, summary: { failed: 0, not_run: 0 } });
    expect((await calls()).calls.filter(({ operation }) => operation === 'authorize')).toEqual([]);
  });
});

describe('doctor: TLS to the gateway', () => {
  const authority = new TestAuthority();

  async function serve(): Promise<{ readonly url: string; readonly pin: string }> {
    const certificate = authority.issue({ names: ['127.0.0.1'] });
    const server = await LoopbackServer.https(certificate, (_request, response) => void response.end());
    closers.push(() => server.close());
    return { url: `https://127.0.0.1:${server.port}`, pin: `sha256/${certificate.spkiSha256}` };
  }

  it('is not trusted: it shows what was presented, for whoever has to find what was changed', async () => {
    const { url, pin } = await serve();
    await examined.configure([{ gatewayUrl: url }]);
    const { code, check } = await examined.doctor();
    const { status, findings, facts } = check('gateway.tls');
    expect({ code, status }).toEqual({ code: 3, status: 'failed' });
    expect(findings[0]?.message).toMatch(/is not trusted/);
    expect(facts).toMatchObject({
      chain: expect.arrayContaining([
        expect.objectContaining({ pin, subject: expect.any(String) as string, endsAt: expect.any(String) as string }),
      ]) as object,
    });
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

  it.each<[string, (response: ServerResponse) => void]>([
    ['a page', (response) => response.end(`<html>${MARKER}`)],
    ['an address with a zone', (response) => response.end('fe80::1%eth0')],
    ['an address under another status', (response) => response.writeHead(500).end('203.0.113.7')],
  ])('fails on %s, and repeats nothing of it', async (_what, answers) => {
    await configure();
    answer = answers;
    const { check, text } = await ask();
    expect(check('gateway.address')).toMatchObject({ status: 'failed', findings: [{ faultClass: 'invalidAnswer' }] });
    expect(text).not.toContain(MARKER);
    expect(asked).toHaveLength(1);
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

  it.each(['ftp://a', 'https://user@a', 'https://a#b'])('refuses the URL %s before anything is sent', async (url) => {
    await configure();
    const { code, text } = await examined.doctor('--echo-url', url);
    expect(code).toBe(2);
    expect(text).toContain('--echo-url must be an http or https URL');
  });
});
