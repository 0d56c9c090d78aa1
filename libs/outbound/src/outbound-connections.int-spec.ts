import type { IncomingMessage } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { FakeClock, LoopbackServer, TestAuthority } from '#libs/testing';
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
  let connections: OutboundConnections;
  let server: LoopbackServer;
  let scheme: string;

  beforeEach(() => {
    connections = new OutboundConnections({ clock: new FakeClock(), connectionsPerOrigin: 1 });
    scheme = 'http';
  });
  afterEach(async () => {
    await connections.close();
    await server.close();
  });

  const post = async (owner: string, body: string | Buffer | Readable = '{}'): Promise<readonly [number, string]> => {
    const origin = `${scheme}://127.0.0.1:${server.port}`;
    const dispatcher = connections.dispatcherFor({ owner, tls: { ca: authority.cert, pins: [] } });
    if (dispatcher === undefined) throw new Error('the connections are closed');
    const given = await dispatcher.request({ origin, path: '/', method: 'POST', body });
    return [given.statusCode, await given.body.text()];
  };

  /** Sends these octets as they are in place of an answer, once a request has arrived. */
  const sayAtOnce = (octets: string) => (request: IncomingMessage) =>
    void text(request).then(() => request.socket.write(octets, 'latin1'));

  const SEVERAL = CONTINUE + PROCESSING + HINTS + WITH_HEADERS + CONTINUE;
  it.each([
    ['http', CONTINUE, 200],
    ['https', CONTINUE, 200],
    ['http', WITH_HEADERS, 200],
    ['http', PROCESSING, 200],
    ['http', HINTS, 200],
    ['https', SEVERAL, 200],
    ['http', SEVERAL, 302],
    ['http', SEVERAL, 503],
  ])('over %s take what follows %j as the answer, %d, and stay', async (over, interim, status) => {
    scheme = over;
    const listener = sayAtOnce(interim + answer(status));
    server = await (over === 'http'
      ? LoopbackServer.http(listener)
      : LoopbackServer.https(authority.issue({ names: ['127.0.0.1'] }), listener));
    for (let number = 0; number < 3; number += 1) expect(await post('shop')).toEqual([status, CONTINUE]);
    expect(server.connections).toBe(1);
  });

  it.each([CONTINUE, PROCESSING, HINTS])('end when the answer is put off without end: %j', async (interim) => {
    server = await LoopbackServer.http(sayAtOnce(interim.repeat(1_000) + answer(200)));
    await expect(post('shop')).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
    await server.idle();
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

  it('carry requests of one owner alone', async () => {
    const seen: string[][] = [];
    server = await LoopbackServer.tcp((socket) => {
      const own: string[] = [];
      seen.push(own);
      socket.on('data', (octets: Buffer) => {
        own.push(/owner-\d/.exec(octets.toString('latin1'))?.[0] ?? 'none');
        socket.write(answer(200));
      });
    });
    for (const owner of ['owner-1', 'owner-2', 'owner-1']) await post(owner, owner);
    expect(seen).toEqual([['owner-1', 'owner-1'], ['owner-2']]);
  });
});
