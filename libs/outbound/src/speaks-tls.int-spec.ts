import { createServer } from 'node:tls';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SystemClock } from '#libs/clock';
import { endedAfterEach, freePort, LoopbackServer, PATIENT_CALL_MS, TestAuthority } from '#libs/testing';
import { speaksTls } from './speaks-tls.js';

const clock = new SystemClock();
const authority = new TestAuthority();
const started = endedAfterEach();

const asks = (port: number, limitMs = PATIENT_CALL_MS): Promise<boolean> =>
  speaksTls({ host: '127.0.0.1', port }, { clock, signal: new AbortController().signal, limitMs });

async function tlsServer(options: object = {}): Promise<number> {
  const { cert, key } = authority.issue({ names: ['another.example'] });
  const server = createServer({ cert, key, ...options }, (socket) => socket.end());
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  started.add(server, (it) => it.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

async function tcpServer(listener: Parameters<typeof LoopbackServer.tcp>[0]): Promise<number> {
  return started.add(await LoopbackServer.tcp(listener), (it) => it.close()).port;
}

describe('whether TLS is spoken at a port', () => {
  it.each([
    ['with a certificate that is not trusted, and for another name', {}],
    ['which wants a certificate of ours', { requestCert: true, rejectUnauthorized: true, maxVersion: 'TLSv1.2' }],
    ['with no cipher that we take', { ciphers: 'ECDHE-ECDSA-AES128-SHA', maxVersion: 'TLSv1.2' }],
  ])('is so %s', async (_name, options) => {
    expect(await asks(await tlsServer(options))).toBe(true);
  });

  it.each<[string, string | undefined]>([
    ['that answers in HTTP', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['that answers as Redis does', "-ERR unknown command '\u0016'\r\n"],
    ['that closes without a word', undefined],
  ])('is not so at one %s', async (_name, words) => {
    const port = await tcpServer((socket) => {
      socket.once('data', () => (words === undefined ? socket.destroy() : socket.end(words)));
    });
    expect(await asks(port)).toBe(false);
  });

  it('is not so where nothing listens, nor where nothing answers in time', async () => {
    expect(await asks(await freePort())).toBe(false);
    expect(await asks(await tcpServer(() => undefined), 50)).toBe(false);
  });
});
