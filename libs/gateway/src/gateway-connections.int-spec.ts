import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { IssuedSession } from '#libs/session';
import { FakeClock, LoopbackServer } from '#libs/testing';
import { GatewayConnections } from './gateway-connections.js';
import { aMerchantGateway, aParty, sessionFields, type TestParty } from './gateway-fixtures.js';
import type { MerchantGateway } from './merchant-gateway.js';
import { UndiciSessionGateway } from './undici-session-gateway.js';

const noPins = { pins: [] };

describe('connections to the gateway', () => {
  let clock: FakeClock;
  let connections: GatewayConnections;
  let merchant: TestParty;
  let body: string;
  let server: LoopbackServer;

  beforeAll(async () => {
    const bank = await aParty();
    merchant = await aParty();
    body = JSON.stringify({ jwe: await merchant.seal(sessionFields(bank)) });
  });
  beforeEach(() => {
    clock = new FakeClock();
    connections = new GatewayConnections(clock);
  });
  afterEach(async () => {
    await connections.close();
    await server.close();
    expect(clock.pendingTasks).toBe(0);
  });

  const create = (overrides: Partial<MerchantGateway> = {}): Promise<IssuedSession> => {
    const baseUrl = new URL(`http://127.0.0.1:${server.port}`);
    const gateway = aMerchantGateway(merchant, { baseUrl, ...overrides });
    const { signal } = new AbortController();
    return new UndiciSessionGateway({ merchants: () => gateway, connections, clock }).createSession({
      merchant: 'shop',
      signal,
    });
  };

  it('are of one merchant, with one trust and one proxy', async () => {
    server = await LoopbackServer.http((_request, response) => response.end(body));
    const merchant = 'shop';
    const first = connections.dispatcherFor({ merchant, tls: { ca: 'A', pins: ['p', 'q'] } });
    expect(connections.dispatcherFor({ merchant, tls: { ca: 'A', pins: ['q', 'p'] } })).toBe(first);
    expect(connections.dispatcherFor({ merchant: 'other', tls: { ca: 'A', pins: ['p', 'q'] } })).not.toBe(first);
    expect(connections.dispatcherFor({ merchant, tls: { ca: 'B', pins: ['p', 'q'] } })).not.toBe(first);
    expect(connections.dispatcherFor({ merchant, tls: { ca: 'A', pins: ['p'] } })).not.toBe(first);
    const proxy = new URL('http://127.0.0.1:9');
    expect(connections.dispatcherFor({ merchant, tls: { ca: 'A', pins: ['p', 'q'] }, proxy })).not.toBe(first);
  });

  it('are kept for the next call', async () => {
    server = await LoopbackServer.http((_request, response) => response.end(body));
    await create();
    await create();
    expect(server.connections).toBe(1);
  });

  it('carry one request at a time', async () => {
    let underWay = 0;
    let most = 0;
    const both = Promise.withResolvers<void>();
    server = await LoopbackServer.http((_request, response) => {
      most = Math.max(most, (underWay += 1));
      if (underWay === 2) both.resolve();
      void both.promise.then(() => response.end(body));
    });
    await Promise.all([create(), create()]);
    expect(most).toBe(2);
    expect(server.connections).toBe(2);
  });

  it('never carry a create call twice when a kept one turns out to be dead', async () => {
    let posts = 0;
    const head = `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`;
    server = await LoopbackServer.tcp((socket) => {
      socket.on('data', (chunk) => {
        posts += chunk.toString('latin1').split('POST /').length - 1;
        // The first call on a connection is answered; a second one finds the connection gone.
        if (posts === 1) socket.write(head + body);
        else socket.resetAndDestroy();
      });
    });
    await create();
    await expect(create()).rejects.toMatchObject({ kind: 'transient' });
    expect(posts).toBe(2);
    // The second one is the handshake that finds out whether TLS is spoken there.
    expect(server.connections).toBe(2);
  });

  it('are opened anew when the gateway has closed the kept one in good time', async () => {
    server = await LoopbackServer.http((_request, response) => response.end(body));
    await create();
    await server.dropConnections();
    await create();
    expect(server.connections).toBe(2);
  });

  it('are all gone after close, which lets a call in flight finish', async () => {
    const waiting = Promise.withResolvers<() => void>();
    server = await LoopbackServer.http((_request, response) => waiting.resolve(() => response.end(body)));
    const call = create();
    const answer = await waiting.promise;
    const closed = connections.close();
    answer();
    await expect(call).resolves.toBeDefined();
    await closed;
    await server.idle();
    expect(server.openConnections).toBe(0);
  });

  it('are cut a second after close when a call does not finish', async () => {
    const hung = Promise.withResolvers<void>();
    server = await LoopbackServer.http(() => hung.resolve());
    const call = expect(create()).rejects.toMatchObject({ kind: 'aborted' });
    await hung.promise;
    const closed = connections.close();
    await clock.advance(1_000);
    await closed;
    await call;
    await server.idle();
  });

  it('are cut by close even while they are still being made', async () => {
    const accepted = Promise.withResolvers<Socket>();
    server = await LoopbackServer.tcp((socket) => accepted.resolve(socket));
    // A TLS handshake that the other side never answers.
    const baseUrl = new URL(`https://127.0.0.1:${server.port}`);
    const call = expect(create({ baseUrl })).rejects.toMatchObject({ kind: 'timeout' });
    await once(await accepted.promise, 'data');
    await clock.advance(5_000);
    await call;
    const closed = connections.close();
    await clock.advance(1_000);
    await closed;
    await server.idle();
  });

  it('are refused once closed, and closing again does nothing', async () => {
    server = await LoopbackServer.http((_request, response) => response.end(body));
    await connections.close();
    await connections.close();
    await expect(create()).rejects.toMatchObject({ kind: 'aborted' });
    expect(() => connections.dispatcherFor({ tls: noPins })).toThrow(expect.objectContaining({ kind: 'aborted' }));
    expect(server.connections).toBe(0);
  });
});
