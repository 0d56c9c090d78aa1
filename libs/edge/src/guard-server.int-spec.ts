import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { SystemClock } from '#libs/clock';
import { endedAfterEach, eventually, TestAuthority } from '#libs/testing';
import { answerClientError } from './client-error.js';
import { edgeHeaders } from './edge-headers.js';
import { EndedConnections } from './ended-connections.js';
import { guardServer } from './guard-server.js';
import { tlsOptions } from './tls-options.js';

const clock = new SystemClock();
const authority = new TestAuthority();
const certificate = authority.issue({ names: ['localhost'] });
const OPTIONS = { requireHostHeader: false };
const HSTS = 'strict-transport-security: max-age=31536000; includesubdomains';

describe('a server that is guarded', () => {
  const started = endedAfterEach();

  const open = async (server: Server): Promise<Server> => {
    server.on('request', (_request, response) => response.writeHead(200, edgeHeaders('one')).end('{}'));
    server.on('clientError', answerClientError);
    const ended = new EndedConnections(clock, () => undefined);
    guardServer(server, { hosts: () => [], bounds: { max: 10, perAddress: 10 }, clock, ended });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return started.add(server, (it) => {
      it.closeAllConnections();
      it.close();
      return Promise.resolve();
    });
  };

  /** @returns the head of the answer, in lower case */
  const headOf = async (server: Server, request: string, secure: boolean): Promise<string> => {
    const { port } = server.address() as AddressInfo;
    const to = { port, host: '127.0.0.1' };
    const socket: Socket = secure ? connectTls({ ...to, ca: authority.cert, servername: 'localhost' }) : connect(to);
    started.add(socket, (it) => Promise.resolve(void it.destroy()));
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => void (text += chunk));
    socket.write(request);
    await eventually(() => text.includes('\r\n\r\n'));
    return text.slice(0, text.indexOf('\r\n\r\n')).toLowerCase();
  };

  const requests = [
    ['an answer', 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n', '200'],
    ['a name that is not ours', 'GET / HTTP/1.1\r\nHost: other.example\r\n\r\n', '421'],
    ['a request without a name', 'GET / HTTP/1.1\r\n\r\n', '400'],
    ['an expectation', 'GET / HTTP/1.1\r\nHost: localhost\r\nExpect: wonders\r\n\r\n', '417'],
    ['what is no HTTP', 'nonsense\r\n\r\n', '400'],
    ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', '501'],
  ] as const;

  it.each(requests)('with TLS demands TLS for a year of %s', async (_what, request, status) => {
    const server = await open(createTlsServer({ ...OPTIONS, ...tlsOptions(certificate) }));
    const head = await headOf(server, request, true);
    expect(head).toMatch(new RegExp(`^http/1.1 ${status} `));
    expect(head.split('\r\n')).toContain(HSTS);
  });

  it.each(requests)(
    'forbids a browser everything in %s, and says nothing of TLS without it',
    async (_what, request) => {
      const head = await headOf(await open(createServer(OPTIONS)), request, false);
      expect(head.split('\r\n')).toEqual(
        expect.arrayContaining([
          'x-content-type-options: nosniff',
          "content-security-policy: default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
          'referrer-policy: no-referrer',
          'cross-origin-resource-policy: same-origin',
        ]),
      );
      expect(head).not.toContain('strict-transport-security');
    },
  );
});
