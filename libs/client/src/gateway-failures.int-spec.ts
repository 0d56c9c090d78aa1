import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from 'node:http';
import { LoopbackServer, TestAuthority } from '../../testing/src/index.js';
import { aDocument } from '../fixtures/scripted-broker.js';
import { answerLost, AnswerLost, GatewayUnreachable, SessionBroker, SessionRejected } from './entries/main.js';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { Agent, fetch } from 'undici';

const ANYBODY =
  'the answer had no code of the bank for a dead session, and may come from something in between, such as a proxy or a firewall';
const NOT_SENT = 'The request was not sent, and may be sent again with the same merchantRequestId';
/** What no message may repeat: a credential, a path and a query can each hold a secret. */
const PATH = '/canary/refund?token=canary';

describe('a payment to a real gateway', () => {
  let brokerServer: LoopbackServer;
  let gateway: LoopbackServer;
  let brokers: SessionBroker[];
  let reported: string[];
  let answer: (response: ServerResponse) => void;

  beforeEach(async () => {
    reported = [];
    brokerServer = await LoopbackServer.http((request, response) => void giveSession(request, response));
    gateway = await LoopbackServer.http((_request, response) => answer(response));
    brokers = [];
  });
  afterEach(async () => {
    await Promise.all(brokers.map((broker) => broker.close()));
    await Promise.all([brokerServer.close(), gateway.close()]);
  });

  async function giveSession(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.endsWith('/rejections') === true) reported.push((await request.toArray()).join(''));
    const document = aDocument({ generation: 1 + reported.length, createdAtMs: Date.now() });
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
  }

  const pay = (origin: string): Promise<unknown> => {
    const own = {
      url: `http://127.0.0.1:${brokerServer.port}`,
      merchant: 'shop',
      auth: 'token',
      follow: 'none',
    } as const;
    const broker = new SessionBroker({ ...own, gateway: { url: origin } });
    brokers.push(broker);
    return broker.fetch(PATH, { sealed: { coinAmount: 5 } }).catch((error: unknown) => error);
  };
  const messageOf = (failure: unknown): string => (failure as Error).message;

  it('names the gateway that nothing listens at, and nothing else of its URL', async () => {
    await gateway.close();
    const failure = await pay(`http://127.0.0.1:${gateway.port}`);
    expect(failure).toBeInstanceOf(GatewayUnreachable);
    expect(messageOf(failure)).toBe(
      `The gateway at http://127.0.0.1:${gateway.port} cannot be reached: ECONNREFUSED. ${NOT_SENT}`,
    );
  });

  it('names the gateway that speaks no TLS', async () => {
    const failure = await pay(`https://127.0.0.1:${gateway.port}`);
    expect(failure).toBeInstanceOf(GatewayUnreachable);
    expect(messageOf(failure)).toBe(
      `The gateway at https://127.0.0.1:${gateway.port} cannot be reached: ERR_SSL_WRONG_VERSION_NUMBER. ${NOT_SENT}`,
    );
  });

  it('names the broker or egress that answers in its place', async () => {
    const problem = { type: 'urn:session-broker:problem:route_not_found', code: 'route_not_found' };
    answer = (response) => response.writeHead(404).end(JSON.stringify(problem));
    const failure = await pay(`http://127.0.0.1:${gateway.port}`);
    expect(failure).toMatchObject({ code: 'not_the_gateway' });
    expect(messageOf(failure)).toContain(
      `It is a broker or an egress that answers at http://127.0.0.1:${gateway.port} (status 404),`,
    );
    expect(messageOf(failure)).not.toContain('canary');
  });

  it.each([
    ['a page', '<html>Unauthorized</html>'],
    ['nothing', ''],
    ['another code', '{"msgCode":"b_merchant_not_found"}'],
  ])('reports a 401 with %s, as the interface demands, and says that anybody may have sent it', async (_what, body) => {
    answer = (response) => response.writeHead(401).end(body);
    const failure = await pay(`http://127.0.0.1:${gateway.port}`);
    expect(reported).toEqual(['{"generation":1,"reason":"http_401"}']);
    expect(failure).toBeInstanceOf(SessionRejected);
    expect(failure).toMatchObject({ reason: 'http_401', rejection: { generation: 2, reason: 'http_401' } });
    expect(messageOf(failure)).toBe(
      `The gateway rejected the session twice, with two sessions (http_401); ${ANYBODY}: that the bank has not carried it ` +
        "out is what the gateway's interface says of a 401. Are the gateway's URL and environment right? " +
        `(http://127.0.0.1:${brokerServer.port}, merchant "shop")`,
    );
    expect(messageOf((failure as Error).cause)).toBe(`The gateway rejected the session (http_401); ${ANYBODY}`);
  });

  it("is certain of the bank's own code", async () => {
    answer = (response) => response.writeHead(401).end('{"msgCode":"b_session_doesnt_exist"}');
    const failure = await pay(`http://127.0.0.1:${gateway.port}`);
    expect(messageOf(failure)).toContain('(b_session_doesnt_exist), so that the bank has not carried it out.');
    expect(messageOf(failure)).not.toContain('in between');
  });
});

describe('a payment at a gateway that sends 100 Continue unasked', () => {
  /** The platform's fetch ends the connection at it, although the bank has carried the payment out. */
  it('is one of which nobody knows, and is not repeated', async () => {
    const paid: string[] = [];
    const server = createTcpServer((socket) => {
      socket
        .on('error', () => undefined)
        .on('data', (octets: Buffer) => {
          if (octets.toString('latin1').includes('coinAmount')) paid.push('once');
          socket.write('HTTP/1.1 100 Continue\r\n\r\n');
          socket.end(
            'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 18\r\n\r\n{"hppOrderId":"o"}',
          );
        });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const broker = new SessionBroker({
      url: 'http://broker.test',
      merchant: 'shop',
      fetch: () => Promise.resolve(Response.json(aDocument({ createdAtMs: Date.now() }))),
      follow: 'none',
      gateway: { url: `http://127.0.0.1:${port}` },
    });
    const failure: unknown = await broker.fetch('/x', { json: { coinAmount: 5 } }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'AnswerLost', code: 'answer_lost' });
    expect(paid).toEqual(['once']);
    await broker.close();
    await new Promise((resolve) => server.close(resolve));
  });
});

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
