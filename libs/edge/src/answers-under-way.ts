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
  return answerUnderWay(socket) !== undefined;
}

/** Ends a connection after what has been written of its answer, if one is under way. @returns whether one was */
export function endBehindAnswer(socket: Socket): boolean {
  const response = answerUnderWay(socket);
  if (response === undefined) return false;
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

function answerUnderWay(socket: Socket): ServerResponse | undefined {
  const response = answers.get(socket);
  return response?.headersSent === true && !response.writableFinished ? response : undefined;
}
