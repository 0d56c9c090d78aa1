import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Clock } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { answerRaw } from './client-error.js';
import { type BoundParts, Connections } from './connections.js';
import { STRICT_TRANSPORT } from './edge-headers.js';
import { isKnownHost } from './known-hosts.js';
import { type Handler, readerOf } from './one-request-at-a-time.js';
import { answerProblem } from './problem.js';

interface GuardParts extends BoundParts {
  /** Further names that the server answers for, read with every request; absent: it answers for any name. */
  readonly hosts?: (() => readonly string[]) | undefined;
}

/** Options of a server that is guarded: what Node.js would refuse with a bare status, or leave out, is judged here. */
export const JUDGED_HERE = { requireHostHeader: false, joinDuplicateHeaders: true } as const;

/** By then every request that was under way has been answered: the remaining connections never sent one. */
const MAX_DRAIN_MS = 2_000;

const guarded = new WeakMap<Server, Connections>();

/**
 * Puts in front of the handlers of a server what applies to every request: how much of the server its connection may
 * use, its form, and its host name. Refuses with a problem document what a Node.js server refuses with a bare status, or
 * lets pass: no `Host` or several (RFC 9112 section 3.2), an unknown expectation (RFC 9110 section 10.1.1), and CONNECT.
 * To be called once all handlers are registered, before the server listens; it must have been created with
 * `JUDGED_HERE`.
 */
export function guardServer(server: Server, { hosts, ...parts }: GuardParts): void {
  guarded.set(server, new Connections(server, parts));
  const guard = (event: 'request' | 'checkContinue' | 'checkExpectation', handler: Handler): void => {
    const judge: Handler = (request, response) => {
      const refusal = refusalOf(request, hosts);
      if (refusal === undefined) handler(request, response);
      else answerProblem(request, response, refusal);
    };
    server.removeAllListeners(event).on(event, (request: IncomingMessage, response: ServerResponse) => {
      if (server instanceof TlsServer) response.setHeader('strict-transport-security', STRICT_TRANSPORT);
      readerOf(request.socket)?.handle(request, response, judge);
    });
  };
  guard('request', handlersOf(server, 'request'));
  // Without a listener, Node.js asks for the body by itself.
  if (server.listenerCount('checkContinue') > 0) guard('checkContinue', handlersOf(server, 'checkContinue'));
  guard('checkExpectation', (request, response) => {
    answerProblem(request, response, new BrokerError('expectation_failed'));
  });
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // The runtime has let go of the connection: a client that disconnects would end the process, and behind what is not
    // read its end would not be seen.
    socket.on('error', () => socket.destroy()).resume();
    answerRaw(socket, new BrokerError('method_not_implemented'));
  });
}

/** Ends every connection of a guarded server that exists now: idle ones at once, the others with their next answer. */
export function endConnections(server: Server): void {
  guarded.get(server)?.end();
}

/**
 * Closes a guarded server within a bounded time. One whose client never finishes a request, or a handshake, would
 * otherwise keep the process alive for as long as its client likes.
 */
export async function drain(
  server: Server,
  { close, clock }: { close: () => Promise<void>; clock: Clock },
): Promise<void> {
  const cut = clock.schedule(MAX_DRAIN_MS, () => guarded.get(server)?.cut());
  const closed = close();
  endConnections(server);
  await closed.finally(() => cut.cancel());
}

function handlersOf(server: Server, event: string): Handler {
  const handlers = server.listeners(event) as Handler[];
  return (request, response) => {
    for (const handler of handlers) handler.call(server, request, response);
  };
}

function refusalOf(request: IncomingMessage, ours: GuardParts['hosts']): BrokerError | undefined {
  const { host } = request.headers;
  if (host === undefined ? request.httpVersion !== '1.0' : host.includes(',')) {
    const publicDetail = host === undefined ? 'the request has no Host' : 'the request has several Host headers';
    return new BrokerError('invalid_request', { publicDetail });
  }
  if (ours === undefined || isKnownHost(request, ours())) return undefined;
  const publicDetail = 'Host is neither localhost, nor an address, nor one of the hosts of the configuration';
  return new BrokerError('misdirected_request', { publicDetail });
}
