import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { PassThrough, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { nextTurn } from '#libs/clock';
import { FakeClock, LoopbackServer, TestAuthority } from '#libs/testing';
import { exchangeEndOf } from './exchange-end.js';
import { OutboundConnections } from './outbound-connections.js';

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const WITH_HEADERS = 'HTTP/1.1 100 Continue\r\nserver: bank\r\nx-wait: 1\r\n\r\n';
const PROCESSING = 'HTTP/1.1 102 Processing\r\n\r\n';
const HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
/** The body looks like what is passed over before an answer. */
const answer = (status: number): string =>
  `HTTP/1.1 ${status} A\r\ncontent-length: ${CONTINUE.length}\r\n\r\n${CONTINUE}`;

describe('connections to others', () => {
  const authority = new TestAuthority();
  const clock = new FakeClock();
  let connections: OutboundConnections;
  let server: LoopbackServer;
  let scheme: string;

  beforeEach(() => {
    connections = new OutboundConnections({ clock, connectionsPerOrigin: 1 });
    scheme = 'http';
  });
  afterEach(async () => {
    await connections.close();
    await server.close();
  });

  const post = async (
    owner: string,
    body: string | Buffer | Readable = '{}',
    signal?: AbortSignal,
  ): Promise<readonly [number, string]> => {
    const origin = `${scheme}://127.0.0.1:${server.port}`;
    const dispatcher = connections.dispatcherFor({ owner, tls: { ca: authority.cert, pins: [] } });
    if (dispatcher === undefined) throw new Error('the connections are closed');
    const given = await dispatcher.request({ origin, path: '/', method: 'POST', body, signal: signal ?? null });
    return [given.statusCode, await given.body.text()];
  };

  const serve = (answering: (request: IncomingMessage) => unknown): Promise<LoopbackServer> => {
    const listener = (request: IncomingMessage): void => void answering(request);
    if (scheme === 'http') return LoopbackServer.http(listener);
    return LoopbackServer.https(authority.issue({ names: ['127.0.0.1'] }), listener);
  };

  /** Sends these octets as they are in place of an answer, once a request has arrived. */
  const sayAtOnce = (octets: string) => (request: IncomingMessage) =>
    void text(request).then(() => request.socket.write(octets, 'latin1'));

  const SEVERAL = CONTINUE + PROCESSING + HINTS + WITH_HEADERS + CONTINUE;
  it.each([
    ['http', CONTINUE, 200],
    ['https', CONTINUE, 200],
    ['https', SEVERAL, 200],
    ['http', SEVERAL, 503],
  ])('over %s take what follows %j as the answer, %d, and stay', async (over, interim, status) => {
    scheme = over;
    server = await serve(sayAtOnce(interim + answer(status)));
    for (let number = 0; number < 3; number += 1) expect(await post('shop')).toEqual([status, CONTINUE]);
    expect(server.connections).toBe(1);
  });

  it.each(['http', 'https'])('over %s take an answer that comes octet by octet', async (over) => {
    scheme = over;
    server = await serve(async (request) => {
      await text(request);
      request.socket.setNoDelay(true);
      for (const octet of SEVERAL + answer(200)) {
        request.socket.write(octet);
        await nextTurn();
      }
    });
    for (let number = 0; number < 2; number += 1) expect(await post('shop')).toEqual([200, CONTINUE]);
    expect(server.connections).toBe(1);
  });

  it('end when the answer is put off without end', async () => {
    server = await LoopbackServer.http(sayAtOnce(HINTS.repeat(1_000) + answer(200)));
    await expect(post('shop')).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
    await server.idle();
  });

  it.each([
    ['what may have another end to somebody else', 'HTTP/1.1 100 Continue\r\nx: 1\rHTTP/1.1 200 A\r\n\r\n'],
    ['what has begun as one, without end', `HTTP/1.1 103 ${'a'.repeat(20_000)}`],
    ['a change of protocols', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
  ])('do not pass over %s', async (_what, octets) => {
    server = await serve(sayAtOnce(octets + answer(200)));
    await expect(post('shop')).rejects.toThrow();
    await server.idle();
  });

  it('over https are not used again when the answer came before the body had been sent', async () => {
    scheme = 'https';
    server = await serve((request) => request.socket.pause().write(answer(200)));
    expect(await post('shop', Buffer.alloc(16_000_000))).toEqual([200, CONTINUE]);
    expect(await post('shop')).toEqual([200, CONTINUE]);
    expect(server.connections).toBe(2);
  });

  const begun = new PassThrough();
  begun.write('{');
  it.each([
    ['a long one', Buffer.alloc(16_000_000)],
    ['one that is still coming', begun],
  ])('are not used again when the answer came before the body had been sent, %s', async (_which, body) => {
    server = await LoopbackServer.tcp((socket) => {
      socket.once('data', () => socket.pause().write(answer(200)));
    });
    expect(await post('shop', body)).toEqual([200, CONTINUE]);
    expect(await post('shop')).toEqual([200, CONTINUE]);
    expect(server.connections).toBe(2);
  });

  it('are of one owner, with one trust and one proxy', async () => {
    const used = { owner: 'shop', tls: { ca: 'A', pins: ['p', 'q'] } };
    const first = connections.dispatcherFor(used);
    expect(connections.dispatcherFor({ owner: 'shop', tls: { ca: 'A', pins: ['q', 'p'] } })).toBe(first);
    for (const others of [
      { ...used, owner: 'other' },
      { ...used, tls: { ca: 'B', pins: ['p', 'q'] } },
      { ...used, tls: { ca: 'A', pins: ['p'] } },
      { ...used, proxy: new URL('http://127.0.0.1:9') },
    ]) {
      expect(connections.dispatcherFor(others)).not.toBe(first);
    }
  });

  it('carry one request at a time', async () => {
    const both = Promise.withResolvers<void>();
    let underWay = 0;
    server = await LoopbackServer.http((_request, response) => {
      if ((underWay += 1) === 2) both.resolve();
      void both.promise.then(() => response.end());
    });
    connections = new OutboundConnections({ clock });
    await Promise.all([post('shop'), post('shop')]);
    expect(server.connections).toBe(2);
  });

  it('let a request in flight finish when they are closed, and are gone then', async () => {
    const waiting = Promise.withResolvers<() => void>();
    server = await LoopbackServer.http((_request, response) => waiting.resolve(() => response.end('late')));
    const posted = post('shop');
    const respond = await waiting.promise;
    const closed = Promise.all([connections.close(), connections.close()]);
    expect(connections.dispatcherFor({ tls: { pins: [] } })).toBeUndefined();
    respond();
    expect(await posted).toEqual([200, 'late']);
    await closed;
    await server.idle();
  });

  it('are cut a second after they were closed when a request does not finish', async () => {
    const hung = Promise.withResolvers<void>();
    server = await LoopbackServer.http(() => hung.resolve());
    const posted = post('shop').catch(exchangeEndOf);
    await hung.promise;
    const closed = connections.close();
    await clock.advance(1_000);
    await closed;
    expect(await posted).toMatchObject({ kind: 'closed' });
    await server.idle();
  });

  it('are cut when they are closed although they are still being made and nobody waits for them', async () => {
    const accepted = Promise.withResolvers<Socket>();
    server = await LoopbackServer.tcp((socket) => accepted.resolve(socket));
    // A TLS handshake that the other side never answers.
    scheme = 'https';
    const leaving = new AbortController();
    const posted = expect(post('shop', '{}', leaving.signal)).rejects.toThrow();
    await once(await accepted.promise, 'data');
    leaving.abort();
    await posted;
    await connections.close();
    await server.idle();
  });
});
