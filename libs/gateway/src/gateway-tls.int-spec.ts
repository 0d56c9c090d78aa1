import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { GatewayFailure, IssuedSession } from '#libs/session';
import { FakeClock, LoopbackServer, TestAuthority, type TestCertificate } from '#libs/testing';
import { GatewayConnections } from './gateway-connections.js';
import { aMerchantGateway, aParty, SERVICE_CODE, sessionFields, type TestParty } from './gateway-fixtures.js';
import type { MerchantGateway } from './merchant-gateway.js';
import { pinOf, type TlsTrust, trustOptions } from '#libs/outbound';
import { UndiciSessionGateway } from './undici-session-gateway.js';

const TIMEOUT_MS = 5_000;
const LOOPBACK = ['localhost', '127.0.0.1'];
const WRONG_PIN = `sha256/${Buffer.alloc(32).toString('base64')}`;

interface Untrusted {
  readonly presented?: TestCertificate;
  readonly tls: TlsTrust;
  readonly code: string;
}

describe('TLS to the gateway', () => {
  const authority = new TestAuthority();
  const certificate = authority.issue({ names: LOOPBACK });
  const ca = authority.cert;
  const pin = `sha256/${certificate.spkiSha256}`;
  let clock: FakeClock;
  let connections: GatewayConnections;
  let merchant: TestParty;
  let body: string;
  let requests: number;
  const servers: LoopbackServer[] = [];

  beforeAll(async () => {
    const bank = await aParty();
    merchant = await aParty();
    body = JSON.stringify({ jwe: await merchant.seal(sessionFields(bank)) });
  });
  beforeEach(() => {
    clock = new FakeClock();
    connections = new GatewayConnections(clock);
    requests = 0;
  });
  afterEach(async () => {
    await connections.close();
    await Promise.all(servers.splice(0).map((server) => server.close()));
    expect(clock.pendingTasks).toBe(0);
  });

  const serve = async (presented: TestCertificate): Promise<LoopbackServer> => {
    const server = await LoopbackServer.https(presented, (_request, response) => {
      requests += 1;
      response.end(body);
    });
    servers.push(server);
    return server;
  };

  const serveBytes = async (script: (socket: Socket) => void): Promise<LoopbackServer> => {
    const server = await LoopbackServer.tcp(script);
    servers.push(server);
    return server;
  };

  const create = ({ port }: LoopbackServer, overrides: Partial<MerchantGateway> = {}): Promise<IssuedSession> => {
    const baseUrl = new URL(`https://127.0.0.1:${port}`);
    const gateway = aMerchantGateway(merchant, { environment: 'production', baseUrl, ...overrides });
    const { signal } = new AbortController();
    const merchants = () => gateway;
    return new UndiciSessionGateway({ merchants, connections, clock }).createSession({ merchant: 'shop', signal });
  };

  const failure = async (call: Promise<IssuedSession>): Promise<GatewayFailure> =>
    call.then(
      () => Promise.reject(new Error('the call was expected to fail')),
      (error: GatewayFailure) => error,
    );

  it('accepts a server whose key is one of the pinned ones', async () => {
    await expect(create(await serve(certificate), { tls: { ca, pins: [WRONG_PIN, pin] } })).resolves.toBeDefined();
    expect(pinOf(certificate.cert)).toBe(pin);
  });

  const stranger = new TestAuthority('Another Authority');
  const expired = authority.issue({ names: LOOPBACK, notAfter: new Date('2021-01-01T00:00:00Z') });
  const elsewhere = authority.issue({ names: ['gw.example'] });
  const NO_PATH = 'UNABLE_TO_VERIFY_LEAF_SIGNATURE';
  it.each([
    ['another authority', { tls: { ca: stranger.cert, pins: [] }, code: NO_PATH }],
    ['a certificate that has expired', { presented: expired, tls: { ca, pins: [] }, code: 'CERT_HAS_EXPIRED' }],
    [
      'a certificate for another host',
      { presented: elsewhere, tls: { ca, pins: [] }, code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    ],
    ['a key that is not pinned', { tls: { ca, pins: [WRONG_PIN] }, code: 'ERR_BROKER_PIN_MISMATCH' }],
    [
      'a pinned key behind a certificate that is not trusted',
      { tls: { ca: stranger.cert, pins: [pin] }, code: NO_PATH },
    ],
    ['the key of the authority as the pin', { tls: { ca, pins: [pinOf(ca)] }, code: 'ERR_BROKER_PIN_MISMATCH' }],
  ])('refuses %s, and sends it nothing', async (_what, { presented = certificate, tls, code }: Untrusted) => {
    const refused = await failure(create(await serve(presented), { tls }));
    expect(refused).toMatchObject({ kind: 'refused', detail: expect.stringContaining(`(${code})`) });
    expect(requests).toBe(0);
  });

  it('is verified even if the environment of the process says otherwise', () => {
    // The test runner hides the process environment from Node's TLS, so this checks the setting that outranks it.
    expect(trustOptions({ pins: [] }).rejectUnauthorized).toBe(true);
  });

  it('is negotiated anew for each connection: a resumed session would skip the pins', async () => {
    const resumed: boolean[] = [];
    const waiting: ServerResponse[] = [];
    const first = Promise.withResolvers<void>();
    const server = await LoopbackServer.https(certificate, (request, response) => {
      resumed.push((request.socket as TLSSocket).isSessionReused());
      waiting.push(response);
      if (waiting.length === 1) {
        // The client has the session of the first connection once this has reached it.
        response.write(' ', () => first.resolve());
      } else {
        for (const one of waiting) one.end(body);
      }
    });
    servers.push(server);
    const tls = { ca, pins: [pin] };
    const calls = [create(server, { tls })];
    await first.promise;
    await clock.settle();
    calls.push(create(server, { tls }));
    await Promise.all(calls);
    expect(resumed).toEqual([false, false]);
  });

  it('is demanded for production, and wherever pins are given', async () => {
    const server = await LoopbackServer.http((_request, response) => response.end(body));
    servers.push(server);
    const baseUrl = new URL(`http://127.0.0.1:${server.port}`);
    expect((await failure(create(server, { baseUrl }))).kind).toBe('refused');
    const pinned = create(server, { baseUrl, environment: 'test', tls: { pins: [pin] } });
    expect((await failure(pinned)).kind).toBe('refused');
    expect(server.connections).toBe(0);
  });

  it('is transient when the other side does not speak it', async () => {
    const plain = await serveBytes((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect((await failure(create(plain))).kind).toBe('transient');
    const mute = await serveBytes((socket) => socket.resetAndDestroy());
    expect((await failure(create(mute))).kind).toBe('transient');
  });

  it('is found out where the address says http: a call without it breaks off, and a handshake does not', async () => {
    const server = await serve(certificate);
    const baseUrl = new URL(`http://127.0.0.1:${server.port}`);
    expect(await failure(create(server, { baseUrl, environment: 'test' }))).toMatchObject({
      kind: 'transient',
      trace: { mark: 'ERR_BROKER_TLS_SPOKEN', peer: `127.0.0.1:${server.port}` },
    });
    expect({ requests, connections: server.connections }).toEqual({ requests: 0, connections: 2 });
  });

  it('is not blamed where the handshake breaks off, too, and nothing of the call is sent twice', async () => {
    const heard: string[] = [];
    const server = await serveBytes((socket) => {
      socket.once('data', (octets: Buffer) => {
        heard.push(octets.toString('latin1'));
        socket.destroy();
      });
    });
    const baseUrl = new URL(`http://127.0.0.1:${server.port}`);
    expect(await failure(create(server, { baseUrl, environment: 'test' }))).toMatchObject({
      kind: 'transient',
      trace: { mark: 'UND_ERR_SOCKET' },
    });
    expect(heard).toHaveLength(2);
    expect(heard.filter((octets) => octets.includes(SERVICE_CODE))).toHaveLength(1);
  });

  it('ends at the deadline while shaking hands, and sends nothing when the handshake comes late', async () => {
    const server = await serve(certificate);
    const held = Promise.withResolvers<Socket>();
    const slow = await serveBytes((socket) => held.resolve(socket));
    const call = failure(create(slow, { tls: { ca, pins: [] }, timeoutMs: TIMEOUT_MS }));
    const socket = await held.promise;
    await once(socket, 'readable');
    await clock.advance(TIMEOUT_MS);
    expect((await call).kind).toBe('timeout');
    const onward = connect(server.port, '127.0.0.1');
    socket.pipe(onward).pipe(socket);
    await slow.idle();
    expect({ requests, reached: server.connections, retried: slow.connections }).toEqual({
      requests: 0,
      reached: 1,
      retried: 1,
    });
  });

  describe('through a proxy', () => {
    const serveProxy = async (status: string): Promise<{ proxy: URL; asked: string[]; server: LoopbackServer }> => {
      const asked: string[] = [];
      const server = await serveBytes((socket) => {
        socket.once('data', (head) => {
          const [line = ''] = head.toString('latin1').split('\r\n');
          asked.push(line);
          socket.write(`HTTP/1.1 ${status}\r\n\r\n`);
          if (!status.startsWith('200')) return;
          const onward = connect(Number(/:(\d+) /.exec(line)?.[1]), '127.0.0.1');
          onward.on('error', () => socket.destroy());
          socket.on('close', () => onward.destroy());
          socket.pipe(onward).pipe(socket);
        });
      });
      return { proxy: new URL(`http://user:secret-canary@127.0.0.1:${server.port}`), asked, server };
    };

    it('is end to end: the proxy sees where to, and the pin is compared with the gateway’s key', async () => {
      const server = await serve(certificate);
      const { proxy, asked } = await serveProxy('200 Connection Established');
      await create(server, { proxy, tls: { ca, pins: [pin] } });
      expect(asked).toEqual([`CONNECT 127.0.0.1:${server.port} HTTP/1.1`]);
      const unpinned = create(server, { proxy, tls: { ca, pins: [WRONG_PIN] } });
      expect((await failure(unpinned)).kind).toBe('refused');
      const untrusted = create(server, { proxy, tls: { ca: stranger.cert, pins: [] } });
      expect((await failure(untrusted)).kind).toBe('refused');
      expect(requests).toBe(1);
    });

    it('is transient when the proxy refuses, and names none of its credentials', async () => {
      const { proxy, asked } = await serveProxy('407 Proxy Authentication Required');
      const refused = await failure(create(await serve(certificate), { proxy, tls: { ca, pins: [] } }));
      expect(refused.kind).toBe('transient');
      expect(JSON.stringify(refused) + refused.message).not.toContain('secret-canary');
      expect(asked).toHaveLength(1);
    });
  });
});
