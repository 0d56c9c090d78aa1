import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { plusMs } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { clientKeyInCustody, type ClientKeys } from '#libs/jwe';
import { GatewayFailure, type IssuedSession } from '#libs/session';
import { pinOf, type TlsTrust, trustOptions } from '#libs/outbound';
import { endedAfterEach, FakeClock, LoopbackServer, TestAuthority, type TestCertificate } from '#libs/testing';
import { GatewayConnections } from './gateway-connections.js';
import {
  aMerchantGateway,
  aParty,
  AUTH_TOKEN,
  custodyOf,
  DEVICE_ID,
  SERVICE_CODE,
  serverPublicOf,
  sessionFields,
  type TestParty,
} from './gateway-fixtures.js';
import { MAX_BODY_BYTES } from './http-exchange.js';
import type { MerchantGateway } from './merchant-gateway.js';
import { UndiciSessionGateway } from './undici-session-gateway.js';

const TIMEOUT_MS = 5_000;
const CANARY = 'canary-7f3a';
const LOOPBACK = ['localhost', '127.0.0.1'];
const WRONG_PIN = `sha256/${Buffer.alloc(32).toString('base64')}`;

interface Untrusted {
  readonly presented?: TestCertificate;
  readonly tls: TlsTrust;
  readonly code: string;
}

/** The request's headers have arrived, and none of the answer has been sent. */
const accepted = (socket: Socket): Promise<unknown> => once(socket, 'data');

let clock: FakeClock;
let connections: GatewayConnections;
let merchant: TestParty;
let bank: TestParty;
/** The one that was started last. */
let server: LoopbackServer;
let requests: number;
const started = endedAfterEach();

beforeAll(async () => {
  [merchant, bank] = await Promise.all([aParty(), aParty()]);
});
beforeEach(() => {
  clock = new FakeClock();
  connections = started.add(new GatewayConnections(clock), (it) => it.close());
  requests = 0;
});
afterEach(() => expect(clock.pendingTasks).toBe(0));

const until = (it: LoopbackServer): LoopbackServer => (server = started.add(it, () => it.close()));
const counting =
  (listener: RequestListener): RequestListener =>
  (request, response) => {
    requests += 1;
    listener(request, response);
  };
const serve = async (listener: RequestListener): Promise<LoopbackServer> =>
  until(await LoopbackServer.http(counting(listener)));
const serveBytes = async (script: (socket: Socket) => unknown): Promise<LoopbackServer> =>
  until(
    await LoopbackServer.tcp((socket) => {
      socket.on('data', (chunk) => (requests += chunk.toString('latin1').split('POST /').length - 1));
      script(socket);
    }),
  );
const reply =
  (status: number, body: string | Uint8Array = '', headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    response.writeHead(status, headers).end(body);

const createFor = (
  gateway: MerchantGateway | undefined,
  signal = new AbortController().signal,
): Promise<IssuedSession> => {
  const merchants = (id: string) => (id === 'shop' ? gateway : undefined);
  return new UndiciSessionGateway({ merchants, connections, clock }).createSession({ merchant: 'shop', signal });
};
const create = (signal?: AbortSignal): Promise<IssuedSession> => {
  const baseUrl = new URL(`http://127.0.0.1:${server.port}/acquiring`);
  return createFor(aMerchantGateway(merchant, { baseUrl, timeoutMs: TIMEOUT_MS }), signal);
};

/** How a call fails, without repeating anything that the gateway sent. */
const failure = async (failing = create()): Promise<GatewayFailure> => {
  const outcome: unknown = await failing.catch((error: unknown) => error);
  if (!(outcome instanceof GatewayFailure)) throw new Error('the call was expected to fail');
  expect(inspect(outcome, { depth: null, showHidden: true })).not.toContain(CANARY);
  return outcome;
};

describe('the create-session call', () => {
  it('brings back a session, and its moments by the time that has passed, not by a wall clock that was set meanwhile', async () => {
    const body = JSON.stringify({ jwe: await merchant.seal(sessionFields(bank)) });
    const headers = { 'x-request_id': 'req-1', date: 'Thu, 01 Jan 2026 00:00:00 GMT' };
    await serve((request, response) => {
      clock.freeze(250);
      clock.jumpWall(-3_600_000);
      reply(200, body, headers)(request, response);
    });
    const before = clock.now();
    expect(await create()).toEqual({
      authToken: AUTH_TOKEN,
      deviceId: DEVICE_ID,
      serverPublic: serverPublicOf(bank),
      clientKeyThumbprint: merchant.key.thumbprint,
      sentAt: plusMs(before, -3_600_000),
      receivedAt: plusMs(before, 250 - 3_600_000),
      gatewayDate: Date.UTC(2026, 0, 1),
      requestId: 'req-1',
    });
    expect(requests).toBe(1);
  });

  it('sends what the interface description names, and asks for no compression', async () => {
    const seen = Promise.withResolvers<{ readonly request: IncomingMessage; readonly body: string }>();
    await serve((request, response) => {
      void text(request).then((body) => {
        seen.resolve({ request, body });
        response.end('{}');
      });
    });
    await failure();
    const { request, body } = await seen.promise;
    expect(request.method).toBe('POST');
    expect(request.url).toBe('/acquiring/api-gateway/authorize_virtual_device');
    expect(request.headers).toMatchObject({
      'x-api_version': '1',
      'content-type': 'application/json',
      'accept-encoding': 'identity',
    });
    expect(JSON.parse(body)).toEqual({ serviceCode: SERVICE_CODE });
  });

  it.each([
    [
      'a compressed body',
      reply(200, gzipSync(JSON.stringify({ jwe: CANARY })), { 'content-encoding': 'gzip' }),
      { kind: 'invalid_response', httpStatus: 200, detail: expect.stringContaining('compressed') },
    ],
    ['headers of 17 KB', reply(200, '{}', { 'x-long': CANARY.repeat(1_500) }), { kind: 'invalid_response' }],
  ])('fails on %s with one request sent', async (_what, listener, expected) => {
    await serve(listener);
    expect(await failure()).toMatchObject(expected);
    expect(requests).toBe(1);
  });

  it('does not follow a redirect', async () => {
    const elsewhere = await LoopbackServer.http(reply(200, '{}'));
    await serve(reply(307, '', { location: `http://127.0.0.1:${elsewhere.port}/` }));
    expect(await failure()).toMatchObject({ kind: 'invalid_response', httpStatus: 307 });
    expect(elsewhere.connections).toBe(0);
    await elsewhere.close();
  });

  it('fails on a session that is sealed to another key', async () => {
    const jwe = await bank.seal(sessionFields(bank));
    await serve(reply(200, JSON.stringify({ jwe })));
    const thumbprint = merchant.key.thumbprint;
    const trace = { httpStatus: 200, thumbprint, lostSession: true };
    expect(await failure()).toMatchObject({ kind: 'invalid_response', httpStatus: 200, trace });
  });

  it('fails on what is a session in name alone, and says that the gateway has made one', async () => {
    const jwe = await merchant.seal({ ...sessionFields(bank), authToken: 'none' });
    await serve(reply(200, JSON.stringify({ jwe })));
    expect(await failure()).toMatchObject({ kind: 'invalid_response', trace: { httpStatus: 200, lostSession: true } });
  });

  describe('of a merchant whose key is kept elsewhere', () => {
    const away = new BrokerError('client_key_unavailable', { detail: 'token_absent' });
    const agreements: (BrokerError | undefined)[] = [];
    let usual: TestParty;
    const kept: ClientKeys = {
      deriveSharedSecret: async (peer) => {
        const failure = agreements.shift();
        if (failure !== undefined) throw failure;
        return (await custodyOf(usual)).deriveSharedSecret(peer);
      },
    };

    beforeEach(async () => {
      usual = merchant;
      agreements.length = 0;
      merchant = { ...usual, key: await clientKeyInCustody(usual.key.publicJwk, kept) };
    });
    afterEach(() => {
      merchant = usual;
    });

    it('is not made while that cannot be used: nobody could open the answer, and the last session would be gone', async () => {
      await serve(reply(200));
      agreements.push(away);
      const call = create();
      await expect(call).rejects.toMatchObject({
        code: 'client_key_unavailable',
        kind: 'key_unavailable',
        wasReached: false,
        detail: 'token_absent',
        trace: undefined,
      });
      expect(requests).toBe(0);
    });

    it('says so when that goes away before the answer has come', async () => {
      const jwe = await usual.seal(sessionFields(bank));
      await serve(reply(200, JSON.stringify({ jwe })));
      agreements.push(undefined, away);
      expect(await failure()).toMatchObject({
        kind: 'key_unavailable',
        wasReached: true,
        trace: { httpStatus: 200, lostSession: true },
      });
    });
  });

  const HALF = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"jwe":"';
  it.each<[string, string, (socket: Socket) => unknown]>([
    ['is reset before the answer', 'transient', (socket) => socket.resetAndDestroy()],
    ['ends in its middle', 'transient', (socket) => socket.end(HALF)],
    ['gives what is not HTTP', 'invalid_response', (socket) => socket.end(`${CANARY} hello\r\n\r\n`)],
  ])('fails once, and quotes nothing, when the connection %s: %s', async (_what, kind, breakOff) => {
    await serveBytes((socket) => void accepted(socket).then(() => breakOff(socket)));
    expect((await failure()).kind).toBe(kind);
    expect(requests).toBe(1);
  });

  it('reads a body of 300 MB no further than its bound', async () => {
    const chunk = Buffer.alloc(65_536, 0x20);
    let written = 0;
    const pour = (response: ServerResponse): void => {
      while (!response.destroyed && written < 300_000_000) {
        written += chunk.length;
        if (!response.write(chunk)) return void response.once('drain', () => pour(response));
      }
      response.end();
    };
    await serve((_request, response) => pour(response));
    expect(await failure()).toMatchObject({ kind: 'invalid_response', httpStatus: 200 });
    await server.idle();
    // We do not control what is in the socket buffers of both sides; it is a few megabytes at most.
    expect(written).toBeGreaterThan(MAX_BODY_BYTES);
    expect(written).toBeLessThan(20_000_000);
  });

  it.each([
    ['headers', 'HTTP/1.1 200 OK\r\nx-slow: '],
    ['body', 'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"jwe": "'],
  ])('ends at its one deadline although the %s keep dripping in', async (_what, beginning) => {
    const gateway = Promise.withResolvers<Socket>();
    await serveBytes((socket) => void accepted(socket).then(() => gateway.resolve(socket)));
    const call = failure();
    const socket = await gateway.promise;
    socket.write(beginning);
    for (let second = 0; second < 5; second += 1) {
      socket.write('a');
      await clock.advance(second < 4 ? 1_000 : 999);
    }
    expect(clock.pendingTasks).toBe(1);
    await clock.advance(1);
    expect((await call).kind).toBe('timeout');
    await server.idle();
    expect(requests).toBe(1);
  });

  it('ends when it is aborted, and takes its connection with it', async () => {
    const gateway = Promise.withResolvers<Socket>();
    await serveBytes((socket) => void accepted(socket).then(() => gateway.resolve(socket)));
    const lease = new AbortController();
    const call = failure(create(lease.signal));
    await gateway.promise;
    lease.abort(new Error(CANARY));
    expect((await call).kind).toBe('aborted');
    await server.idle();
    expect({ requests, connections: server.connections }).toEqual({ requests: 1, connections: 1 });
  });

  it('sends nothing when it is aborted beforehand', async () => {
    await serve(reply(200));
    expect((await failure(create(AbortSignal.abort(new Error(CANARY))))).kind).toBe('aborted');
    expect(server.connections).toBe(0);
  });

  it('is never made twice, although a kept connection turns out to be dead', async () => {
    const body = JSON.stringify({ jwe: await merchant.seal(sessionFields(bank)) });
    const said = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    await serveBytes((socket) => {
      // The first call on a connection is answered; a second one finds the connection gone.
      socket.on('data', () => void (requests === 1 ? socket.write(said) : socket.resetAndDestroy()));
    });
    await create();
    expect((await failure()).kind).toBe('transient');
    // The second connection is the handshake that finds out whether TLS is spoken there.
    expect({ requests, connections: server.connections }).toEqual({ requests: 2, connections: 2 });
  });

  it('is not made once the connections are closed', async () => {
    await serve(reply(200));
    await connections.close();
    expect((await failure()).kind).toBe('aborted');
    expect(server.connections).toBe(0);
  });

  it('is refused for a merchant that is not configured', async () => {
    await serve(reply(200));
    expect((await failure(createFor(undefined))).kind).toBe('refused');
  });
});

describe('TLS to the gateway', () => {
  const authority = new TestAuthority();
  const certificate = authority.issue({ names: LOOPBACK });
  const ca = authority.cert;
  const pin = `sha256/${certificate.spkiSha256}`;
  let body: string;

  beforeAll(async () => {
    body = JSON.stringify({ jwe: await merchant.seal(sessionFields(bank)) });
  });

  const serveTls = async (
    presented: TestCertificate,
    listener: RequestListener = (_request, response) => response.end(body),
  ): Promise<LoopbackServer> => until(await LoopbackServer.https(presented, counting(listener)));

  const createAt = ({ port }: LoopbackServer, overrides: Partial<MerchantGateway> = {}): Promise<IssuedSession> => {
    const baseUrl = new URL(`https://127.0.0.1:${port}`);
    return createFor(aMerchantGateway(merchant, { environment: 'production', baseUrl, ...overrides }));
  };

  it('accepts a server whose key is one of the pinned ones', async () => {
    await expect(createAt(await serveTls(certificate), { tls: { ca, pins: [WRONG_PIN, pin] } })).resolves.toBeDefined();
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
    const refused = await failure(createAt(await serveTls(presented), { tls }));
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
    const tlsServer = await serveTls(certificate, (request, response) => {
      resumed.push((request.socket as TLSSocket).isSessionReused());
      waiting.push(response);
      if (waiting.length === 1) {
        // The client has the session of the first connection once this has reached it.
        response.write(' ', () => first.resolve());
      } else {
        for (const one of waiting) one.end(body);
      }
    });
    const tls = { ca, pins: [pin] };
    const calls = [createAt(tlsServer, { tls })];
    await first.promise;
    await clock.settle();
    calls.push(createAt(tlsServer, { tls }));
    await Promise.all(calls);
    expect(resumed).toEqual([false, false]);
  });

  it('is demanded for production, and wherever pins are given', async () => {
    await serve(reply(200, body));
    const baseUrl = new URL(`http://127.0.0.1:${server.port}`);
    expect((await failure(createAt(server, { baseUrl }))).kind).toBe('refused');
    const pinned = createAt(server, { baseUrl, environment: 'test', tls: { pins: [pin] } });
    expect((await failure(pinned)).kind).toBe('refused');
    expect(server.connections).toBe(0);
  });

  it('is found out where the address says http: a call without it breaks off, and a handshake does not', async () => {
    await serveTls(certificate);
    const baseUrl = new URL(`http://127.0.0.1:${server.port}`);
    expect(await failure(createAt(server, { baseUrl, environment: 'test' }))).toMatchObject({
      kind: 'transient',
      trace: { mark: 'ERR_BROKER_TLS_SPOKEN', peer: `127.0.0.1:${server.port}` },
    });
    expect({ requests, connections: server.connections }).toEqual({ requests: 0, connections: 2 });
  });

  it('is not blamed where the handshake breaks off, too, and nothing of the call is sent twice', async () => {
    const heard: string[] = [];
    await serveBytes((socket) => {
      socket.once('data', (octets: Buffer) => {
        heard.push(octets.toString('latin1'));
        socket.destroy();
      });
    });
    const baseUrl = new URL(`http://127.0.0.1:${server.port}`);
    expect(await failure(createAt(server, { baseUrl, environment: 'test' }))).toMatchObject({
      kind: 'transient',
      trace: { mark: 'UND_ERR_SOCKET' },
    });
    expect(heard).toHaveLength(2);
    expect(heard.filter((octets) => octets.includes(SERVICE_CODE))).toHaveLength(1);
  });

  it('ends at the deadline while shaking hands, and sends nothing when the handshake comes late', async () => {
    const reached = await serveTls(certificate);
    const held = Promise.withResolvers<Socket>();
    const slow = await serveBytes((socket) => held.resolve(socket));
    const failing = failure(createAt(slow, { tls: { ca, pins: [] }, timeoutMs: TIMEOUT_MS }));
    const socket = await held.promise;
    await once(socket, 'readable');
    await clock.advance(TIMEOUT_MS);
    expect((await failing).kind).toBe('timeout');
    const onward = connect(reached.port, '127.0.0.1');
    socket.pipe(onward).pipe(socket);
    await slow.idle();
    expect({ requests, reached: reached.connections, retried: slow.connections }).toEqual({
      requests: 0,
      reached: 1,
      retried: 1,
    });
  });

  describe('through a proxy', () => {
    const serveProxy = async (status: string): Promise<{ proxy: URL; asked: string[] }> => {
      const asked: string[] = [];
      const { port } = await serveBytes((socket) => {
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
      return { proxy: new URL(`http://user:secret-canary@127.0.0.1:${port}`), asked };
    };

    it('is end to end: the proxy sees where to, and the pin is compared with the gateway’s key', async () => {
      const reached = await serveTls(certificate);
      const { proxy, asked } = await serveProxy('200 Connection Established');
      await createAt(reached, { proxy, tls: { ca, pins: [pin] } });
      expect(asked).toEqual([`CONNECT 127.0.0.1:${reached.port} HTTP/1.1`]);
      const unpinned = createAt(reached, { proxy, tls: { ca, pins: [WRONG_PIN] } });
      expect((await failure(unpinned)).kind).toBe('refused');
      const untrusted = createAt(reached, { proxy, tls: { ca: stranger.cert, pins: [] } });
      expect((await failure(untrusted)).kind).toBe('refused');
      expect(requests).toBe(1);
    });

    it('is transient when the proxy refuses, and names none of its credentials', async () => {
      const { proxy, asked } = await serveProxy('407 Proxy Authentication Required');
      const refused = await failure(createAt(await serveTls(certificate), { proxy, tls: { ca, pins: [] } }));
      expect(refused.kind).toBe('transient');
      expect(JSON.stringify(refused) + refused.message).not.toContain('secret-canary');
      expect(asked).toHaveLength(1);
    });
  });
});
