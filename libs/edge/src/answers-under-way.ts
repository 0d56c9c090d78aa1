import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const answers = new WeakMap<Socket, ServerResponse>();

/** To be told of every request whose turn it is to be answered. */
export function noteAnswer(request: IncomingMessage, response: ServerResponse): void {
  // Requests behind one whose answer ends the connection are handled, too, but never answered.
  if (!isAnswerUnderWay(request.socket)) answers.set(request.socket, response);
}

/** Whether an answer has begun that has not ended: whatever else is written would be taken for a part of it. */
export function isAnswerUnderWay(socket: Socket): boolean {
  return answerUnderWay(socket) !== undefined;
}

/** Ends a connection behind what has been written of its answer, where one is under way. @returns whether one was */
export function endBehindAnswer(socket: Socket): boolean {
  const response = answerUnderWay(socket);
  if (response === undefined) return false;
  // What was written in this turn of the event loop is held back for its end: since Node.js 26 in the response, where
  // the socket knows nothing of it.
  while (response.writableCorked > 0) response.uncork();
  socket.destroySoon();
  return true;
}

/** The request that the next answer on this connection is for: its head has come, and no answer to it has ended. */
export function requestUnderWay(socket: Socket): IncomingMessage | undefined {
  const response = answers.get(socket);
  return response?.writableFinished === false ? response.req : undefined;
}

function answerUnderWay(socket: Socket): ServerResponse | undefined {
  const response = answers.get(socket);
  return response?.headersSent === true && !response.writableFinished ? response : undefined;
}
