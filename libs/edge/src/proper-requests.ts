import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { BrokerError } from '#libs/errors';
import { answerProblem } from './answer-problem.js';
import { noteAnswer } from './answers-under-way.js';
import { answerRaw } from './client-error.js';
import { isEnding } from './drain.js';
import type { Handler } from './one-request-at-a-time.js';

/** Requests whose client sends its body only when told to, and whether their connection may be reused after that. */
const unsentBodies = new WeakMap<IncomingMessage, boolean>();

/**
 * Refuses with a problem document what a Node.js server refuses with a bare status, or lets pass: no `Host` or several
 * (RFC 9112 section 3.2), an unknown expectation (RFC 9110 section 10.1.1), and CONNECT. A client that asks whether to
 * send its body is answered by `wantBody`. To be called once all request handlers are registered; the server must be
 * created with `requireHostHeader: false`, since the check is here.
 */
export function refuseImproperRequests(server: Server): void {
  const handlers = server.listeners('request') as Handler[];
  const continuing = server.listeners('checkContinue') as Handler[];
  server.removeAllListeners('request').removeAllListeners('checkContinue');
  server.on('request', (request, response) => {
    if (isProper(request, response)) for (const handler of handlers) handler.call(server, request, response);
  });
  server.on('checkContinue', (request, response) => {
    if (!isProper(request, response)) return;
    if (continuing.length === 0) holdBody(request, response);
    const those = continuing.length === 0 ? handlers : continuing;
    for (const handler of those) handler.call(server, request, response);
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    noteAnswer(request, response);
    answerProblem(request, response, new BrokerError('expectation_failed'));
  });
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // The runtime has removed its own listener: otherwise a client that disconnects would end the process.
    socket.on('error', () => socket.destroy());
    answerRaw(socket, new BrokerError('method_not_implemented'));
  });
}

/** Tells the client to send the body that it holds back, now that it is known to be wanted. */
export function wantBody(request: IncomingMessage, response: ServerResponse): void {
  const mayStay = unsentBodies.get(request);
  if (mayStay === undefined) return;
  unsentBodies.delete(request);
  response.shouldKeepAlive = mayStay && !isEnding(request.socket);
  response.writeContinue();
}

/** Until the body is wanted, the connection ends with the answer: nobody knows whether what comes next is the body. */
function holdBody(request: IncomingMessage, response: ServerResponse): void {
  unsentBodies.set(request, response.shouldKeepAlive);
  response.shouldKeepAlive = false;
}

function isProper(request: IncomingMessage, response: ServerResponse): boolean {
  const hosts = hostsIn(request.rawHeaders);
  if (hosts === 1 || (hosts === 0 && request.httpVersion === '1.0')) return true;
  const publicDetail = hosts === 0 ? 'the request has no Host' : 'the request has several Host headers';
  answerProblem(request, response, new BrokerError('invalid_request', { publicDetail }));
  return false;
}

/** Every request passes through here, so names of any other length are skipped. */
function hostsIn(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts;
}
