import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Agent, fetch as undiciFetch } from 'undici';
import { eventually, LoopbackServer, TestAuthority } from '../../testing/src/index.js';
import { aDocument } from '../fixtures/scripted-broker.js';
import type { ClientEvent } from './client-event.js';
import { BrokerUnavailable, ProtocolError } from './errors.js';
import type { SessionBrokerOptions } from './options.js';
import { SessionBroker } from './session-broker.js';

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

const documentOf = (generation: number): string => JSON.stringify(aDocument({ generation }));
const frameOf = (generation: number): string =>
  `event: session\nid: ${generation}\ndata: ${documentOf(generation)}\n\n`;
const isEvents = ({ url = '' }: IncomingMessage): boolean => /\/events(?:\?|$)/.test(url);
const giveSession = (response: ServerResponse, generation: number): void => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(documentOf(generation));
};
const openEvents = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'text/event-stream' });

describe('over a real network', () => {
  let server: LoopbackServer;
  let broker: SessionBroker;
  let events: ClientEvent[];

  const start = async (listener: Listener): Promise<void> => {
    server = await LoopbackServer.http(listener);
  };
  const open = (options: Partial<SessionBrokerOptions> = {}): SessionBroker => {
    events = [];
    broker = new SessionBroker({
      url: `http://127.0.0.1:${server.port}`,
      merchant: 'shop',
      auth: 'token',
      random: () => 0.01,
      onEvent: (event) => void events.push(event),
      ...options,
    });
    return broker;
  };

  afterEach(async () => {
    await broker.close();
    await server.close();
  });

  it('goes on after an event stream that is cut in the middle of a frame', async () => {
    let streams = 0;
    await start((request, response) => {
      if (!isEvents(request)) return giveSession(response, 1);
      streams += 1;
      openEvents(response);
      if (streams > 1) return void response.write(frameOf(3));
      response.write(frameOf(2));
      response.write(frameOf(9).slice(0, 40), () => response.destroy());
    });
    await open().session();
    await eventually(async () => (await broker.session()).generation === 3);
    expect(events).toContainEqual(expect.objectContaining({ type: 'interrupted' }));
    expect(events.flatMap((event) => (event.type === 'session' ? [event.generation] : []))).toEqual([1, 2, 3]);
  });

  it('gives up an answer that drips without end', async () => {
    await start((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
    });
    const failure: unknown = await open({ follow: 'none', timeoutMs: 300 })
      .session()
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(BrokerUnavailable);
    expect(failure).toMatchObject({ code: 'timeout' });
    await server.idle();
  });

  it('takes its credential nowhere else', async () => {
    let followed = 0;
    const elsewhere = await LoopbackServer.http((_request, response) => {
      followed += 1;
      giveSession(response, 1);
    });
    await start((_request, response) => {
      response.writeHead(307, { location: `http://127.0.0.1:${elsewhere.port}/` }).end();
    });
    await expect(open({ follow: 'none' }).session()).rejects.toThrow(ProtocolError);
    expect(followed).toBe(0);
    await elsewhere.close();
  });
});

describe('over mutual TLS', () => {
  it('shows the client certificate of the fetch that it is given', async () => {
    const authority = new TestAuthority();
    const ca = authority.cert;
    const { cert, key } = authority.issue({ names: ['127.0.0.1'] });
    const peers: unknown[] = [];
    const server = createTlsServer(
      { ca, cert, key, requestCert: true, rejectUnauthorized: true },
      (request, response) => {
        peers.push((request.socket as TLSSocket).getPeerCertificate().subject?.CN);
        giveSession(response, 1);
      },
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const own = authority.issue({ names: ['checkout.internal'] });
    const dispatcher = new Agent({ connect: { ca, cert: own.cert, key: own.key } });
    const broker = new SessionBroker({
      url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      merchant: 'shop',
      follow: 'none',
      fetch: (url, init) => undiciFetch(url, { ...init, dispatcher }),
    });
    expect((await broker.session()).generation).toBe(1);
    expect(peers).toEqual(['checkout.internal']);
    await broker.close();
    await dispatcher.close();
    server.close();
    await once(server, 'close');
  });
});
