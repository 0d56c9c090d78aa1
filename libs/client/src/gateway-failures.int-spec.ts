import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { Agent, fetch } from 'undici';
import {
  aSessionDocument as aDocument,
  endedAfterEach,
  FakeClock,
  freePort,
  json,
  LoopbackServer,
  ScriptedBroker,
  TestAuthority,
} from '../../testing/src/index.js';
import { clientOf } from '../fixtures/client-of.js';
import { answerLost, AnswerLost, GatewayUnreachable } from './entries/main.js';

describe('a payment at a gateway at which nothing listens', () => {
  it('was not sent, and the message names nothing of the URL but the gateway', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const server = new ScriptedBroker().on('read', () => json(aDocument()));
    const broker = clientOf(server, new FakeClock(), { gateway: { url } });
    await expect(broker.fetch('/canary?token=canary', { json: {} })).rejects.toMatchObject({
      name: 'GatewayUnreachable',
      message: `The gateway at ${url} cannot be reached: ECONNREFUSED. The request was not sent, and may be sent again with the same merchantRequestId`,
    });
    await broker.close();
  });
});

describe('a payment over TLS', () => {
  const { cert, key } = new TestAuthority().issue({ names: ['gateway.test'] });
  const started = endedAfterEach();

  const tls = async (options: TlsOptions, each?: (socket: Socket) => void): Promise<number> => {
    const server = createTlsServer({ cert, key, ...options }, each).listen(0, '127.0.0.1');
    started.add(server, (it) => it.close());
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const pay = async (port: number): Promise<unknown> => {
    const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
    const request = { method: 'POST', body: 'a payment', redirect: 'error', dispatcher } as const;
    const paid = fetch(`https://127.0.0.1:${port}/`, request).catch(answerLost);
    return paid.catch((error: unknown) => error).finally(() => dispatcher.destroy());
  };
  it.each<[string, () => Promise<number>, string]>([
    [
      'speaks HTTP on that port',
      async () =>
        started.add(await LoopbackServer.http((_request, response) => response.end()), (it) => it.close()).port,
      'ERR_SSL_WRONG_VERSION_NUMBER. The request',
    ],
    [
      'has no cipher in common',
      () => tls({ maxVersion: 'TLSv1.2', ciphers: 'ECDHE-PSK-AES128-CBC-SHA256' }),
      'HANDSHAKE_FAILURE. The request',
    ],
  ])('was not sent to a gateway that %s', async (_what, make, says) => {
    const failure = await pay(await make());
    expect(failure).toBeInstanceOf(GatewayUnreachable);
    expect((failure as Error).message).toContain(says);
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'is one of which nobody knows when what is no TLS comes after it: %s',
    async (version) => {
      let front: Socket | undefined;
      const received: string[] = [];
      const port = await tls({ minVersion: version, maxVersion: version }, (socket) => {
        socket.on('error', () => undefined);
        socket.on('data', (octets: Buffer) => {
          received.push(octets.toString('latin1'));
          if (received.join('').endsWith('a payment'))
            front?.end(`HTTP/1.1 504 Gateway Timeout\r\n${'x'.repeat(30_000)}`);
        });
      });
      const between = await LoopbackServer.tcp((socket) => {
        front = socket;
        const behind = connect(port, '127.0.0.1').on('error', () => socket.destroy());
        behind.on('data', (octets) => socket.writable && socket.write(octets));
        socket.on('data', (octets) => behind.write(octets)).on('close', () => behind.destroy());
      });
      const failure = await pay(started.add(between, (it) => it.close()).port);
      expect(received.join('')).toContain('a payment');
      expect(failure).toBeInstanceOf(AnswerLost);
    },
  );
});
