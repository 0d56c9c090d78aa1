import type { IncomingMessage, ServerResponse } from 'node:http';
import { freePort, LoopbackServer } from '#libs/testing';
import { type Examination, Examined, messagesOf } from './examined.js';

const MARKER = 'marker-b41d';

describe('doctor --echo-url', () => {
  let examined: Examined;
  let gateway: LoopbackServer;
  let echo: LoopbackServer;
  let asked: IncomingMessage[];
  let answer: (response: ServerResponse) => void;

  beforeEach(async () => {
    examined = await Examined.create();
    asked = [];
    gateway = await LoopbackServer.http((_request, response) => response.end());
    echo = await LoopbackServer.http((request, response) => {
      asked.push(request);
      answer(response);
    });
  });
  afterEach(async () => {
    await Promise.all([gateway.close(), echo.close()]);
    await examined.remove();
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
