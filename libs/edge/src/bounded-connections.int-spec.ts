import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { instantFromEpochMs, SystemClock, VirtualClock } from '#libs/clock';
import { endedAfterEach, eventually, TestAuthority } from '#libs/testing';
import { boundConnections, type ConnectionBounds } from './bounded-connections.js';
import { EndedConnections } from './ended-connections.js';

const BOUNDS: ConnectionBounds = { max: 100, perAddress: 100 };
const TINY = 'GET / HTTP/1.1\r\nHost:\r\n\r\n';
const CHUNK = Buffer.alloc(65_536);

describe('a server whose connections are bounded', () => {
  const started = endedAfterEach();
  const reports: object[] = [];
  let handled: IncomingMessage[];
  let answers: ServerResponse[];
  let ended: EndedConnections;
  let clock: SystemClock | VirtualClock;
  let handler: (request: IncomingMessage, response: ServerResponse) => void;

  beforeEach(() => {
    clock = new SystemClock();
    handled = [];
    answers = [];
    reports.length = 0;
    handler = (request, response) => void response.end(request.url);
  });

  async function open(bounds = BOUNDS, made = createServer()): Promise<Server> {
    ended = new EndedConnections(clock, (facts) => reports.push(facts));
    made.on('request', (request: IncomingMessage, response: ServerResponse) => {
      handled.push(request);
      answers.push(response);
      handler(request, response);
    });
    boundConnections(made, { bounds, clock, ended });
    made.listen(0, '127.0.0.1');
    await once(made, 'listening');
    return started.add(made, (it) => {
      it.closeAllConnections();
      it.close();
      return Promise.resolve();
    });
  }

  const portOf = (server: Server): number => (server.address() as AddressInfo).port;

  async function client(server: Server, secure = false): Promise<{ socket: Socket; text: () => string }> {
    const socket = secure
      ? connectTls({ port: portOf(server), host: '127.0.0.1', rejectUnauthorized: false })
      : connect(portOf(server), '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => void (text += chunk));
    socket.on('error', () => socket.destroy());
    await once(socket, secure ? 'secureConnect' : 'connect');
    started.add(socket, (it) => Promise.resolve(void it.destroy()));
    return { socket, text: () => text };
  }

  const endsOf = (reason: string): number => new Map<string, number>(ended.all()).get(reason) ?? 0;
  const answeredIn = (text: string): number => text.split('HTTP/1.1 200 ').length - 1;

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

  it('leaves reading to the parser until somebody sends in advance, and then on no connection', async () => {
    const server = await open();
    const listenersOf = (socket: Socket | undefined): readonly unknown[] => socket?.listeners('data') ?? [];
    let [connected] = [once(server, 'connection') as Promise<Socket[]>];
    const good = await client(server);
    const [goodSocket] = await connected;
    const [own] = listenersOf(goodSocket);
    for (let request = 1; request <= 3; request += 1) {
      good.socket.write(TINY);
      await eventually(() => answeredIn(good.text()) === request);
    }
    expect(listenersOf(goodSocket)).toEqual([own]);
    const { socket, text } = await client(server);
    socket.write(TINY.repeat(20));
    await eventually(() => answeredIn(text()) === 20);
    expect(listenersOf(goodSocket)).not.toContain(own);
    connected = once(server, 'connection') as Promise<Socket[]>;
    const later = await client(server);
    const [laterSocket] = await connected;
    expect(listenersOf(laterSocket).map(String)).toEqual(listenersOf(goodSocket).map(String));
    for (const { socket: each, text: answers } of [good, later]) {
      const before = answeredIn(answers());
      each.write(TINY);
      await eventually(() => answeredIn(answers()) === before + 1);
    }
  });

  it('trusts new connections again half a minute after requests in advance were last seen', async () => {
    const virtual = new VirtualClock(instantFromEpochMs(0));
    clock = virtual;
    const server = await open();
    const isTrusted = async (): Promise<boolean> => {
      const connected = once(server, 'connection') as Promise<Socket[]>;
      await client(server);
      const [socket] = await connected;
      return String(socket?.listeners('data')[0]).includes('native code');
    };
    expect(await isTrusted()).toBe(true);
    const { socket } = await client(server);
    socket.write(TINY.repeat(20));
    await eventually(() => handled.length > 0);
    expect(await isTrusted()).toBe(false);
    await virtual.advance(29_000);
    expect(await isTrusted()).toBe(false);
    await virtual.advance(1_000);
    expect(await isTrusted()).toBe(true);
  });

  it('takes in no more of what is sent in advance than a few requests', async () => {
    const server = await open();
    handler = () => undefined;
    const hasty = await client(server);
    hasty.socket.write(TINY.repeat(20));
    await eventually(() => handled.length === 1);
    handled.length = 0;
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
    const { socket, text } = await client(server, secure);
    const body = 'x'.repeat(300_000);
    const post = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    socket.write(TINY + post + TINY + TINY + post + TINY);
    await eventually(() => answeredIn(text()) === 6);
    expect(text().match(/(GET|POST) \d+;/g)).toEqual([
      'GET 0;',
      'POST 300000;',
      'GET 0;',
      'GET 0;',
      'POST 300000;',
      'GET 0;',
    ]);
  });

  it('ends connections once those that wait would fill the memory, and serves the others on', async () => {
    const server = await open({ max: 500, perAddress: 500 });
    handler = () => undefined;
    const { socket: good, text } = await client(server);
    const greedy = await Promise.all(Array.from({ length: 250 }, () => client(server)));
    for (const { socket } of greedy) socket.write(TINY.repeat(2_000));
    await eventually(() => endsOf('pipelined') > 0);
    handler = (_request, response) => void response.end();
    good.write(TINY);
    await eventually(() => answeredIn(text()) === 1);
    expect(handled.length).toBeLessThanOrEqual(251);
  });

  it('forgets what a client sent in advance that went away', async () => {
    const server = await open();
    handler = () => undefined;
    for (let round = 1; round <= 3; round += 1) {
      const clients = await Promise.all(Array.from({ length: 60 }, () => client(server)));
      for (const { socket } of clients) socket.write(TINY.repeat(20));
      await eventually(() => handled.length === round * 60);
      const gone = answers.slice(-60).map((answer) => once(answer, 'close'));
      for (const { socket } of clients) socket.destroy();
      await Promise.all(gone);
    }
    expect([...ended.all()].filter(([, count]) => count > 0)).toEqual([]);
  });

  it('closes the connections that are too many of one address, or in all, and counts them', async () => {
    const server = await open({ max: 3, perAddress: 2 });
    const [first] = [await client(server), await client(server)];
    const third = await client(server);
    await once(third.socket, 'close');
    expect(endsOf('address')).toBe(1);
    const fromElsewhere = connect({ port: portOf(server), host: '127.0.0.1', localAddress: '127.0.0.2' });
    await once(fromElsewhere, 'connect');
    const last = connect({ port: portOf(server), host: '127.0.0.1', localAddress: '127.0.0.3' });
    await once(
      last.on('error', () => undefined),
      'close',
    );
    await eventually(() => endsOf('all') === 1);
    fromElsewhere.destroy();
    first?.socket.write(TINY);
    await eventually(() => first !== undefined && answeredIn(first.text()) === 1);
    expect(reports).toEqual([{ reason: 'address', connections: 1 }]);
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
});
