import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { SystemClock } from '#libs/clock';
import { endedAfterEach, eventually, TestAuthority } from '#libs/testing';
import { answerClientError } from './client-error.js';
import { edgeHeaders } from './edge-headers.js';
import { guardServer, JUDGED_HERE } from './guard-server.js';
import { tlsOptions } from './tls-options.js';
import { text } from 'node:stream/consumers';

const clock = new SystemClock();
const authority = new TestAuthority();
const certificate = authority.issue({ names: ['localhost'] });
const HSTS = 'strict-transport-security: max-age=31536000; includesubdomains';

const started = endedAfterEach();

/** @returns the port that it listens at */
async function listening(server: Server, hosts?: () => readonly string[]): Promise<number> {
  server.on('clientError', answerClientError);
  guardServer(server, { hosts, bounds: { max: 10, perAddress: 10 }, clock, onEnd: () => undefined });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  started.add(server, async (it) => {
    it.closeAllConnections();
    it.close();
  });
  return (server.address() as AddressInfo).port;
}

const connectedTo = (port: number): Socket =>
  started.add(connect(port, '127.0.0.1').setEncoding('latin1'), async (it) => void it.destroy());

describe('a server that is guarded', () => {
  const handle: RequestListener = (_request, response) => response.writeHead(200, edgeHeaders('one')).end('{}');

  /** @returns the head of the answer, in lower case */
  const headOf = async (socket: Socket, request: string): Promise<string> => {
    let text = '';
    socket.on('data', (chunk: string) => void (text += chunk));
    socket.write(request);
    await eventually(() => text.includes('\r\n\r\n'));
    return text.slice(0, text.indexOf('\r\n\r\n')).toLowerCase();
  };

  const requests = [
    ['an answer', 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n', '200'],
    ['a name that is not ours', 'GET / HTTP/1.1\r\nHost: other.example\r\n\r\n', '421'],
    ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', '501'],
  ] as const;

  it.each(requests)(
    'forbids a browser everything in %s, and demands TLS for a year where it has that',
    async (...row) => {
      const [, request, status] = row;
      const encrypted = await listening(
        createTlsServer({ ...JUDGED_HERE, ...tlsOptions(certificate) }, handle),
        () => [],
      );
      const to = { port: encrypted, host: '127.0.0.1', ca: authority.cert, servername: 'localhost' };
      const socket = started.add(connectTls(to).setEncoding('latin1'), async (it) => void it.destroy());
      const plain = connectedTo(await listening(createServer(JUDGED_HERE, handle), () => []));
      const heads = [await headOf(socket, request), await headOf(plain, request)];
      for (const head of heads) {
        expect(head).toMatch(new RegExp(`^http/1.1 ${status} `));
        expect(head.split('\r\n')).toEqual(
          expect.arrayContaining([
            'x-content-type-options: nosniff',
            "content-security-policy: default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            'referrer-policy: no-referrer',
            'cross-origin-resource-policy: same-origin',
          ]),
        );
      }
      expect(heads.map((head) => head.split('\r\n').includes(HSTS))).toEqual([true, false]);
      expect(heads[1]).not.toContain('strict-transport-security');
    },
  );
});

const GARBAGE = '\0 no HTTP';

const CHUNKED = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n';

describe('what is no HTTP, behind a request', () => {
  const portOf = (handle: RequestListener): Promise<number> => listening(createServer(JUDGED_HERE, handle));

  async function received(port: number, octets: string): Promise<string> {
    const socket = connectedTo(port);
    socket.write(octets);
    return text(socket);
  }

  it.each([
    ['that was refused', `GET / HTTP/1.1\r\n\r\n${GARBAGE}`, 'HTTP/1.1 400'],
    ['whose expectation was refused', `GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n${GARBAGE}`, 'HTTP/1.1 417'],
    ['of a version without lengths of chunks', `GET / HTTP/0.9\r\n\r\n${GARBAGE}`, 'HTTP/1.1 400'],
    ['whose answer has begun', `${CHUNKED}\r\n${GARBAGE}`, 'HTTP/1.1 200'],
  ])('adds no second answer to one %s', async (_name, octets, start) => {
    const port = await portOf((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': here\n\n');
    });
    const answer = await received(port, octets);
    expect(answer.startsWith(start)).toBe(true);
    expect(answer.split('HTTP/1.1 ')).toHaveLength(2);
  });

  it('answers under the id that the request gave itself, where a body breaks, and not under that of one before it', async () => {
    const port = await portOf((request, response) => {
      if (request.method === 'GET') response.end();
    });
    const socket = connectedTo(port);
    let answered = '';
    socket.on('data', (octets: string) => (answered += octets));
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nx-request-id: first-1\r\n\r\n');
    await once(socket, 'data');
    socket.write(`${CHUNKED}x-request-id: order-7\r\n\r\nno chunk`);
    await once(socket, 'close');
    expect(answered.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
    expect(answered).toMatch(/^x-request-id: order-7\r$/m);
    expect(answered).toContain('"requestId":"order-7"');
  });

  it('ends the connection, once a whole request before it has been answered', async () => {
    const port = await portOf((request, response) => {
      request.resume().on('end', () => setImmediate(() => response.end('{}')));
    });
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n';
    const answer = await received(port, `${head}{}${GARBAGE}`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*connection: close[^]*\{\}$/i);
  });

  it('answers under an id of its own where there is no request', async () => {
    expect(await received(await portOf(() => undefined), GARBAGE)).toMatch(/^x-request-id: [0-9a-f-]{36}\r$/m);
  });

  it('adds no second answer to a refused expectation, with a request between that is not answered yet', async () => {
    const port = await portOf(() => undefined);
    const request = 'GET / HTTP/1.1\r\nHost: x\r\n';
    const answer = await received(port, `${request}Expect: x\r\n\r\n${request}\r\n${GARBAGE}`);
    expect(answer).toMatch(/^HTTP\/1\.1 417 /);
    expect(answer.split('HTTP/1.1 ')).toHaveLength(2);
  });

  it('ends nothing but its connection when the client of a CONNECT has gone before it is answered', async () => {
    const server = createServer(JUDGED_HERE);
    const socket = connectedTo(await listening(server));
    socket.write('CONNECT bank.example:443 HTTP/1.1\r\nHost: bank.example:443\r\n\r\n');
    const [, taken] = (await once(server, 'connect')) as [unknown, Socket];
    // The runtime removes its own listeners; an error without a listener would end the process.
    expect(() => taken.emit('error', new Error('write EPIPE'))).not.toThrow();
    expect(taken.destroyed).toBe(true);
  });

  it('is read past behind a CONNECT, so that the connection ends with its client', async () => {
    const server = createServer(JUDGED_HERE);
    const port = await listening(server);
    const halfOpen = { port, host: '127.0.0.1', allowHalfOpen: true };
    const client = started.add(connect(halfOpen), async (it) => void it.destroy());
    client.write('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n');
    const [, taken] = (await once(server, 'connect')) as [unknown, Socket];
    client.end(GARBAGE);
    await once(taken, 'close');
  });

  it('is answered behind an answer that is whole and leaves the connection open', async () => {
    const port = await portOf((_request, response) => void response.end('{}'));
    const socket = connectedTo(port);
    let answers = '';
    socket.on('data', (chunk: string) => {
      if (answers === '') socket.write(GARBAGE);
      answers += chunk;
    });
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'close');
    expect(answers).toMatch(/^HTTP\/1\.1 200 [^]*HTTP\/1\.1 400 /);
  });

  it('a refusal says how long it is, so that nothing behind it can be taken for a part of it', async () => {
    const port = await portOf((_request, response) => void response.end());
    const answer = await received(port, 'GET / HTTP/0.9\r\n\r\n');
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head.toLowerCase()).toContain(`content-length: ${body.length}`);
  });
});

describe('TLS of a port that serves', () => {
  /** @returns the cipher that both ends agreed on */
  const agreed = async (options: ConnectionOptions): Promise<string> => {
    const port = await listening(createTlsServer({ ...JUDGED_HERE, ...tlsOptions(certificate) }));
    const socket = connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca: authority.cert, ...options });
    started.add(socket, async (it) => void it.destroy());
    await once(socket, 'secureConnect');
    return socket.getCipher().name;
  };

  it('has the longest keys that the caller can: those of TLS 1.3, or of what has forward secrecy and an AEAD in 1.2', async () => {
    expect(await agreed({})).toBe('TLS_AES_256_GCM_SHA384');
    const ciphers = 'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384';
    expect(await agreed({ maxVersion: 'TLSv1.2', ciphers })).toBe('ECDHE-ECDSA-AES256-GCM-SHA384');
  });

  it.each<ConnectionOptions>([
    // Node.js would take these two.
    { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES256-SHA384' },
    { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA' },
    { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
  ])('refuses who offers no more than %j', async (offered) => {
    await expect(agreed(offered)).rejects.toThrow(/handshake failure|protocol version/);
  });
});
