import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const answers = new WeakMap<Socket, ServerResponse>();

/** Must be called for every request whose turn it is to be answered. */
export function noteAnswer(request: IncomingMessage, response: ServerResponse): void {
  // Requests that follow one whose answer ends the connection are also handled, but never answered.
  if (!isAnswerUnderWay(request.socket)) answers.set(request.socket, response);
}

/** Whether an answer has begun but not ended: anything else written would be read as part of it. */
export function isAnswerUnderWay(socket: Socket): boolean {
  const response = answers.get(socket);
  return response?.headersSent === true && !response.writableFinished;
}

/**
 * Ends a connection at what is no HTTP behind an answer, or behind a whole request: what has been written of its answer
 * goes out, and one that has not begun is awaited. @returns whether there is one
 */
export function endBehindAnswer(socket: Socket): boolean {
  const response = answers.get(socket);
  if (response === undefined || response.writableFinished) return false;
  if (!response.headersSent) {
    if (response.req.complete) response.shouldKeepAlive = false;
    return response.req.complete;
  }
  // Output of this turn of the event loop is corked until the end of the turn: since Node.js 26 in the response, of
  // which the socket knows nothing.
  while (response.writableCorked > 0) response.uncork();
  socket.destroySoon();
  return true;
}

/**
 * The request that the next answer on this connection belongs to: its head has arrived, and no answer to it has ended.
 */
export function requestUnderWay(socket: Socket): IncomingMessage | undefined {
  const response = answers.get(socket);
  return response?.writableFinished === false ? response.req : undefined;
}
