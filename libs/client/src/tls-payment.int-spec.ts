import { once } from 'node:events';
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { Agent, fetch } from 'undici';
import { TestAuthority } from '../../testing/src/index.js';
import { AnswerLost, answerLost, GatewayUnreachable } from './entries/main.js';

describe('a payment over TLS', () => {
  const { cert, key } = new TestAuthority().issue({ names: ['gateway.test'] });
  let servers: (Server | HttpServer)[];

  const listening = async (server: Server | HttpServer): Promise<number> => {
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return (server.address() as AddressInfo).port;
  };
  const pay = async (port: number): Promise<unknown> => {
    const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
    const request = { method: 'POST', body: 'a payment', redirect: 'error', dispatcher } as const;
    const paid = fetch(`https://127.0.0.1:${port}/`, request).catch(answerLost);
    return paid.catch((error: unknown) => error).finally(() => dispatcher.destroy());
  };
  const tcp = (each: (socket: Socket) => void): Server =>
    createTcpServer((socket) => each(socket.on('error', () => undefined)));

  beforeEach(() => {
    servers = [];
  });
  afterEach(async () => {
    for (const server of servers) await new Promise((resolve) => server.close(resolve));
  });

  it.each<[string, () => Server | HttpServer, string]>([
    [
      'speaks HTTP on that port',
      () => createHttpServer((_request, response) => response.end()),
      'ERR_SSL_WRONG_VERSION_NUMBER. The request',
    ],
    [
      'has no cipher in common',
      () => createTlsServer({ cert, key, maxVersion: 'TLSv1.2', ciphers: 'ECDHE-PSK-AES128-CBC-SHA256' }),
      'HANDSHAKE_FAILURE. The request',
    ],
  ])('was not sent to a gateway that %s', async (_what, make, says) => {
    const failure = await pay(await listening(make()));
    expect(failure).toBeInstanceOf(GatewayUnreachable);
    expect((failure as Error).message).toContain(says);
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'is one of which nobody knows when what is no TLS comes after it: %s',
    async (version) => {
      let front: Socket | undefined;
      const received: string[] = [];
      const gateway = createTlsServer({ cert, key, minVersion: version, maxVersion: version }, (socket) => {
        socket
          .on('error', () => undefined)
          .on('data', (octets: Buffer) => {
            received.push(octets.toString('latin1'));
            if (received.join('').endsWith('a payment'))
              front?.end(`HTTP/1.1 504 Gateway Timeout\r\n${'x'.repeat(30_000)}`);
          });
      });
      const port = await listening(gateway);
      const failure = await pay(
        await listening(
          tcp((socket) => {
            front = socket;
            const behind = connect(port, '127.0.0.1').on('error', () => socket.destroy());
            behind.on('data', (octets) => socket.writable && socket.write(octets));
            socket.on('data', (octets) => behind.write(octets)).on('close', () => behind.destroy());
          }),
        ),
      );
      expect(received.join('')).toContain('a payment');
      expect(failure).toBeInstanceOf(AnswerLost);
    },
  );
});
