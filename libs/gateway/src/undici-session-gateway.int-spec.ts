import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { plusMs } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { clientKeyInCustody, type ClientKeys } from '#libs/jwe';
import { GatewayFailure, type IssuedSession } from '#libs/session';
import { FakeClock, LoopbackServer } from '#libs/testing';
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
import { UndiciSessionGateway } from './undici-session-gateway.js';

const TIMEOUT_MS = 5_000;
const CANARY = 'canary-7f3a';

/** The request's headers have arrived, and none of the answer has been sent. */
const accepted = (socket: Socket): Promise<unknown> => once(socket, 'data');

describe('the create-session call', () => {
  let clock: FakeClock;
  let connections: GatewayConnections;
  let server: LoopbackServer;
  let merchant: TestParty;
  let bank: TestParty;
  let requests: number;

  beforeAll(async () => {
    [merchant, bank] = await Promise.all([aParty(), aParty()]);
  });
  beforeEach(() => {
    clock = new FakeClock();
    connections = new GatewayConnections(clock);
    requests = 0;
  });
  afterEach(async () => {
    await connections.close();
    await server.close();
    expect(clock.pendingTasks).toBe(0);
  });

  const serve = async (listener: RequestListener): Promise<void> => {
    server = await LoopbackServer.http((request, response) => {
      requests += 1;
      listener(request, response);
    });
  };

  const serveBytes = async (script: (socket: Socket) => void): Promise<void> => {
    server = await LoopbackServer.tcp((socket) => {
      socket.on('data', (chunk) => (requests += chunk.toString('latin1').split('POST /').length - 1));
      script(socket);
    });
  };

  const create = (signal = new AbortController().signal): Promise<IssuedSession> => {
    const baseUrl = new URL(`http://127.0.0.1:${server.port}/acquiring`);
    const gateway = aMerchantGateway(merchant, { baseUrl, timeoutMs: TIMEOUT_MS });
    const merchants = (id: string) => (id === 'shop' ? gateway : undefined);
    return new UndiciSessionGateway({ merchants, connections, clock }).createSession({ merchant: 'shop', signal });
  };

  /** How a call fails: once, after exactly one request, and without repeating anything that the gateway sent. */
  const failure = async (call = create()): Promise<GatewayFailure> => {
    const outcome: unknown = await call.catch((error: unknown) => error);
    if (!(outcome instanceof GatewayFailure)) throw new Error('the call was expected to fail');
    expect(inspect(outcome, { depth: null, showHidden: true })).not.toContain(CANARY);
    return outcome;
  };

  const reply =
    (status: number, body: string | Uint8Array = '', headers: Record<string, string> = {}): RequestListener =>
    (_request, response) =>
      response.writeHead(status, headers).end(body);

  it('brings back a session, and what is known of its moment', async () => {
    const jwe = await merchant.seal(sessionFields(bank));
    await serve((_request, response) => {
      clock.freeze(250);
      reply(200, JSON.stringify({ jwe }), { 'x-request_id': 'req-1', date: 'Thu, 01 Jan 2026 00:00:00 GMT' })(
        _request,
        response,
      );
    });
    const sentAt = clock.now();
    expect(await create()).toEqual({
      authToken: AUTH_TOKEN,
      deviceId: DEVICE_ID,
      serverPublic: serverPublicOf(bank),
      clientKeyThumbprint: merchant.key.thumbprint,
      sentAt,
      receivedAt: plusMs(sentAt, 250),
      gatewayDate: Date.UTC(2026, 0, 1),
      requestId: 'req-1',
    });
    expect(requests).toBe(1);
  });

  it('counts back to when it was sent by the time that has passed, not by a wall clock that was set meanwhile', async () => {
    const jwe = await merchant.seal(sessionFields(bank));
    await serve((request, response) => {
      clock.freeze(250);
      clock.jumpWall(-3_600_000);
      reply(200, JSON.stringify({ jwe }))(request, response);
    });
    const before = clock.now();
    const { sentAt, receivedAt } = await create();
    expect([sentAt, receivedAt]).toEqual([plusMs(before, -3_600_000), plusMs(before, 250 - 3_600_000)]);
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
    ['429 with Retry-After', reply(429, '', { 'retry-after': '7' }), { kind: 'transient', retryAfterMs: 7_000 }],
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
  it.each<[string, (socket: Socket) => unknown]>([
    ['is reset before the answer', (socket) => socket.resetAndDestroy()],
    ['is reset in its middle', (socket) => socket.write(HALF, () => socket.resetAndDestroy())],
    ['ends in its middle', (socket) => socket.end(HALF)],
  ])('is transient when the connection %s', async (_what, breakOff) => {
    await serveBytes((socket) => void accepted(socket).then(() => breakOff(socket)));
    expect((await failure()).kind).toBe('transient');
    expect(requests).toBe(1);
  });

  it('fails on what is not HTTP, and quotes none of it', async () => {
    await serveBytes((socket) => void accepted(socket).then(() => socket.end(`${CANARY} hello\r\n\r\n`)));
    expect((await failure()).kind).toBe('invalid_response');
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
    const gateway = new UndiciSessionGateway({ merchants: () => undefined, connections, clock });
    const call = gateway.createSession({ merchant: 'shop', signal: new AbortController().signal });
    expect((await failure(call)).kind).toBe('refused');
  });
});
