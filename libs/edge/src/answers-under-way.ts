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
  const response = answers.get(socket);
  return response !== undefined && response.headersSent && !response.writableFinished;
}
