import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { instantFromEpochMs, SystemClock, VirtualClock } from '#libs/clock';
import { endedAfterEach, eventually, TestAuthority } from '#libs/testing';
import type { ConnectionBounds } from './connections.js';
import { EndedConnections } from './ended-connections.js';
import { drain, guardServer } from './guard-server.js';

const BOUNDS: ConnectionBounds = { max: 100, perAddress: 100 };
const TINY = 'GET / HTTP/1.1\r\nHost:\r\n\r\n';
const CHUNK = Buffer.alloc(65_536);

describe('a server whose connections are bounded', () => {
  const started = endedAfterEach();
  let handled: IncomingMessage[];
  let answers: ServerResponse[];
  let ended: EndedConnections;
  let clock: SystemClock | VirtualClock;
  let handler: (request: IncomingMessage, response: ServerResponse) => void;

  beforeEach(() => {
    clock = new SystemClock();
    handled = [];
    answers = [];
    handler = (request, response) => void response.end(request.url);
  });

  async function open(bounds = BOUNDS, made = createServer()): Promise<Server> {
    ended = new EndedConnections();
    made.on('request', (request: IncomingMessage, response: ServerResponse) => {
      handled.push(request);
      answers.push(response);
      handler(request, response);
    });
    guardServer(made, { bounds, clock, onEnd: ended.of('api') });
    made.listen(0, '127.0.0.1');
    await once(made, 'listening');
    return started.add(made, (it) => {
      it.closeAllConnections();
      it.close();
      return Promise.resolve();
    });
  }

  const portOf = (server: Server): number => (server.address() as AddressInfo).port;

  /** A client that the server has accepted; from any address of the loopback, if it is not to be the usual one. */
  async function client(
    server: Server,
    { secure = false, ...from }: { secure?: boolean; localAddress?: string; localPort?: number } = {},
  ): Promise<{ socket: Socket; text: () => string }> {
    const accepted = once(server, 'connection');
    const place = { port: portOf(server), host: '127.0.0.1', ...from };
    const socket = secure ? connectTls({ ...place, rejectUnauthorized: false }) : connect(place);
    started.add(socket, (it) => it.destroy());
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => void (text += chunk));
    socket.on('error', () => socket.destroy());
    await Promise.all([accepted, once(socket, secure ? 'secureConnect' : 'connect')]);
    return { socket, text: () => text };
  }

  const endsOf = (reason: string): number =>
    ended.counts.find((each) => each.port === 'api' && each.reason === reason)?.count ?? 0;
  const answeredIn = (text: string): number => text.split('HTTP/1.1 200 ').length - 1;

  const from = async (server: Server, localAddress: string, localPort = 0): Promise<Socket> =>
    (await client(server, { localAddress, localPort })).socket;

  it('handles the requests of one connection one after the other, and answers all of them in order', async () => {
    const server = await open();
    let underWay = 0;
    let most = 0;
    handler = (request, response) => {
      most = Math.max(most, ++underWay);
      setImmediate(() => {
        underWay -= 1;
        response.end(`${request.url};`);
      });
    };
    const { socket, text } = await client(server);
    const paths = Array.from({ length: 400 }, (_, index) => `/${index}`);
    socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
    await eventually(() => answeredIn(text()) === paths.length);
    expect(most).toBe(1);
    expect(handled.map(({ url }) => url)).toEqual(paths);
    expect(text()).toMatch(/\/0;[^]*\/199;[^]*\/399;$/);
  });

  it('takes in nothing of what is sent in advance, and ends the connection with its answer if that is much', async () => {
    const server = await open();
    handler = () => undefined;
    let parsed = 0;
    server.on('request', () => void (parsed += 1));
    const connected = once(server, 'connection') as Promise<Socket[]>;
    const { socket } = await client(server);
    const flood = Buffer.from(TINY.repeat(400_000));
    socket.write(flood);
    await eventually(() => handled.length === 1);
    const { socket: other, text } = await client(server);
    handler = (_request, response) => void response.end();
    other.write(TINY);
    await eventually(() => answeredIn(text()) === 1);
    // The rest waits in buffers of the system, which are limited: the client waits as well.
    const [read] = await connected;
    expect(read?.bytesRead).toBeLessThan(1_000_000);
    expect(socket.writableLength).toBeGreaterThan(0);
    expect(handled).toHaveLength(2);
    expect(parsed).toBe(2);
    answers[0]?.end();
    await eventually(() => socket.closed);
    expect([parsed, endsOf('pipelined')]).toEqual([2, 1]);
  });

  it.each([false, true])('reads long bodies between requests that were sent in advance (TLS: %s)', async (secure) => {
    const authority = new TestAuthority();
    const { cert, key } = authority.issue({ names: ['127.0.0.1'] });
    const server = await open(BOUNDS, secure ? createTlsServer({ cert, key }) : createServer());
    handler = (request, response) => {
      let length = 0;
      request.on('data', (chunk: Buffer) => void (length += chunk.length));
      request.on('end', () => response.end(`${request.method} ${length};`));
    };
    const { socket, text } = await client(server, { secure });
    const post = (length: number): string =>
      `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(length)}`;
    socket.write(post(300_000) + post(2) + post(10_000) + TINY);
    await eventually(() => answeredIn(text()) === 4);
    expect(text().match(/(GET|POST) \d+;/g)).toEqual(['POST 300000;', 'POST 2;', 'POST 10000;', 'GET 0;']);
  });

  it('answers a chunked request, and then another one that came with its last octets', async () => {
    const server = await open();
    handler = (request, response) => void request.resume().on('end', () => response.end('once'));
    const { socket, text } = await client(server);
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    await eventually(() => handled.length === 1);
    socket.write(`4\r\nbody\r\n0\r\n\r\n${TINY}`);
    await eventually(() => answeredIn(text()) === 2);
    expect(handled).toHaveLength(2);
  });

  describe('with too many connections', () => {
    const ask = async (socket: Socket, url: string): Promise<void> => {
      socket.write(`GET ${url} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await eventually(() => handled.some((request) => request.url === url));
    };
    const isClosed = (socket: Socket): boolean => socket.closed;
    const closed = (socket: Socket | undefined): Promise<void> => eventually(() => socket?.closed === true);

    it('of one address, ends the one of it that was idle for the longest', async () => {
      const server = await open({ max: 9, perAddress: 3 });
      const [oldest, used] = [await from(server, '127.0.0.1'), await from(server, '127.0.0.1')];
      await ask(oldest, '/oldest');
      await ask(used, '/used');
      handler = () => undefined;
      const working = await from(server, '127.0.0.1');
      await ask(working, '/working');
      const newest = await from(server, '127.0.0.1');
      await closed(oldest);
      handler = (_request, response) => void response.end();
      await ask(newest, '/newest');
      expect([used, working, newest].map(isClosed)).toEqual([false, false, false]);
      expect(endsOf('address')).toBe(1);
    });

    it('in all, ends an idle one of the address that has the most, though it has sent half of a request', async () => {
      const server = await open({ max: 4, perAddress: 3 });
      const honest = await from(server, '127.0.0.1');
      const greedy = [];
      for (let count = 0; count < 3; count += 1) greedy.push(await from(server, '127.0.0.2'));
      for (const socket of greedy) socket.write('GET / HTTP/1.1\r\nHost:');
      const newcomer = await from(server, '127.0.0.3');
      await closed(greedy[0]);
      await ask(newcomer, '/newcomer');
      await ask(honest, '/honest');
      expect([endsOf('all'), endsOf('address')]).toEqual([1, 0]);
    });

    it('all of which are being answered, ends the newest', async () => {
      const server = await open({ max: 2, perAddress: 2 });
      handler = () => undefined;
      const busy = [await from(server, '127.0.0.1'), await from(server, '127.0.0.2')];
      for (const [index, socket] of busy.entries()) await ask(socket, `/${index}`);
      await closed(await from(server, '127.0.0.3'));
      expect(busy.map(isClosed)).toEqual([false, false]);
      expect(endsOf('all')).toBe(1);
    });
  });

  it('ends a connection whose answer nobody reads, and no other one', async () => {
    const virtual = new VirtualClock(instantFromEpochMs(0));
    clock = virtual;
    const server = await open();
    handler = (request, response) => {
      if (request.url !== '/') return void response.write('first');
      const more = (): void => {
        while (!response.destroyed && response.write(CHUNK));
        response.once('drain', more);
      };
      more();
    };
    const quiet = await client(server);
    quiet.socket.write('GET /quiet HTTP/1.1\r\nHost: x\r\n\r\n');
    const unread = await client(server);
    unread.socket.pause();
    unread.socket.write(TINY);
    await eventually(() => handled.length === 2);
    const [stream, stuck] = answers;
    // What the system buffers counts as read, as far as anybody can see.
    let before = -1;
    await eventually(() => {
      const now = stuck?.socket?.bytesWritten ?? 0;
      const isStuck = now === before && now > 0;
      before = now;
      return isStuck;
    });
    const closed = once(stuck as ServerResponse, 'close');
    for (let second = 0; second < 25; second += 1) {
      stream?.write(`${second};`);
      await virtual.advance(1_000);
    }
    await closed;
    await eventually(() => quiet.text().includes('24;'));
    expect(endsOf('unread')).toBe(1);
  });

  it('ends with the server, although its client has gone unnoticed and another came from the same port', async () => {
    const virtual = new VirtualClock(instantFromEpochMs(0));
    clock = virtual;
    handler = () => undefined;
    const server = await open();
    // Of an address of its own, so that nobody else takes the port in between.
    const gone = await from(server, '127.0.0.9');
    const { localPort } = gone;
    // As much as is taken in: from now on nothing is read from it before its first request is answered, not even its end.
    gone.write(TINY.repeat(20_000));
    await eventually(() => (handled[0]?.socket.readableLength ?? 0) >= CHUNK.length);
    gone.resetAndDestroy();
    await once(gone, 'close');
    const next = await from(server, '127.0.0.9', localPort);
    next.write(TINY);
    await eventually(() => handled.length === 2);
    let isClosed = false;
    const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
    void drain(server, { close, clock: virtual }).then(() => (isClosed = true));
    await virtual.advance(2_000);
    await eventually(() => isClosed);
  });
});
