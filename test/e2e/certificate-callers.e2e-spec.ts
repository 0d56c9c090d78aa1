import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, type AgentOptions, request } from 'node:https';
import { connect } from 'node:net';
import { endedAfterAll, TestAuthority, type TestCertificate } from '#libs/testing';
import { RunningBroker, TOKENS } from './running-broker.js';

const SESSION = '/v1/merchants/shop/session';
const CHECKOUT = 'spiffe://shop.example/checkout';

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
}

describe('callers with client certificates', () => {
  const authority = new TestAuthority();
  const server = authority.issue({ names: ['127.0.0.1'] });
  const checkout = authority.issue({ names: [CHECKOUT] });
  let broker: RunningBroker;

  const started = endedAfterAll();
  beforeAll(async () => {
    broker = started.add(
      await RunningBroker.start({
        http: 'tls: { certFile: tls.crt, keyFile: tls.key, clientCaFile: ca.pem }',
        auth: ['mtls: true'],
        callers: [CHECKOUT, 'reports.shop.example', 'batch'],
        files: { 'tls.crt': server.cert, 'tls.key': server.key, 'ca.pem': authority.cert },
      }),
      (it) => it.close(),
    );
  });

  const ask = (
    client: TestCertificate | undefined,
    { path = SESSION, token, ...tls }: { path?: string; token?: string } & AgentOptions = {},
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const identity = client === undefined ? {} : { cert: client.cert, key: client.key };
      const agent = new Agent({ ca: authority.cert, ...identity, ...tls });
      const headers = { prefer: 'wait=5', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
      request(broker.url + path, { agent, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => {
          agent.destroy();
          const body = JSON.parse(text) as Record<string, unknown>;
          resolve({ status: response.statusCode, headers: response.headers, body });
        });
      })
        .on('error', reject)
        .end();
    });

  it('reach a broker that announces itself as https', () => {
    expect(broker.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  });

  it.each([
    ['URI', { names: ['other.example', CHECKOUT] }],
    ['DNS name', { names: ['reports.shop.example'] }],
    ['common name', { names: [], commonName: 'batch' }],
  ])('are known by the %s of their certificate', async (_what, wish) => {
    expect((await ask(authority.issue(wish))).body['merchant']).toBe('shop');
  });

  it('may do what their policy allows, and learn nothing of other merchants', async () => {
    const hidden = await ask(checkout, { path: '/v1/merchants/hidden/session' });
    const unknown = await ask(checkout, { path: '/v1/merchants/unknown/session' });
    expect([hidden.status, unknown.status]).toEqual([403, 403]);
    expect({ ...hidden.body, requestId: '' }).toEqual({ ...unknown.body, requestId: '' });
    expect((await ask(authority.issue({ names: ['spiffe://shop.example/stranger'] }))).status).toBe(403);
  });

  const refused: Record<string, () => TestCertificate | undefined> = {
    'without a certificate': () => undefined,
    'with a certificate of another authority': () => new TestAuthority().issue({ names: [CHECKOUT] }),
    'with an expired one': () => authority.issue({ names: [CHECKOUT], notAfter: new Date(Date.now() - 60_000) }),
    'with one that is not yet valid': () =>
      authority.issue({ names: [CHECKOUT], notBefore: new Date(Date.now() + 60_000) }),
    'with one that names nobody': () => authority.issue({ names: [], commonName: 'not a name' }),
  };

  it.each(Object.entries(refused))(
    'are refused %s, by an answer and not by a broken connection',
    async (_what, make) => {
      const answer = await ask(make());
      expect([answer.status, answer.body['code']]).toEqual([401, 'unauthenticated']);
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="session-broker"');
    },
  );

  it('are judged by the token when they send one: it may be good without a certificate', async () => {
    expect((await ask(undefined, { token: TOKENS.checkout })).status).toBe(200);
    expect((await ask(checkout, { token: TOKENS.reporting })).status).toBe(403);
  });

  it('are refused with a wrong token, whatever certificate they have', async () => {
    expect((await ask(checkout, { token: 'wrong' })).status).toBe(401);
  });

  it('need TLS 1.2 at least', async () => {
    await expect(ask(checkout, { maxVersion: 'TLSv1.1', minVersion: 'TLSv1' })).rejects.toThrow();
    expect((await ask(checkout, { maxVersion: 'TLSv1.2' })).status).toBe(200);
    expect((await ask(checkout, { minVersion: 'TLSv1.3' })).status).toBe(200);
  });

  it('that never finish their handshake do not hold up a shutdown', async () => {
    const own = await RunningBroker.start({
      http: 'tls: { certFile: tls.crt, keyFile: tls.key }',
      files: { 'tls.crt': server.cert, 'tls.key': server.key },
    });
    const socket = connect(Number(new URL(own.url).port), '127.0.0.1');
    await once(socket, 'connect');
    const ended = once(socket, 'close');
    socket.resume();
    await own.close();
    await ended;
    expect(socket.destroyed).toBe(true);
  });
});
