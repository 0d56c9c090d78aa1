import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Answer } from './answer.js';
import type { Waiting } from './waiting.js';

export interface Transmission {
  readonly response: ServerResponse;
  readonly answer: Answer;
  readonly headers: Readonly<Record<string, string>>;
}

/** Hands the whole answer over at once, after interim ones that nobody asked for (RFC 9110, section 15.2). */
export function sendWhole({ response, answer, headers }: Transmission, interim: readonly number[] = []): void {
  for (const status of interim) response.socket?.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n\r\n`);
  response.writeHead(answer.status, headers);
  response.end(answer.body);
}

/** Announces the whole body and sends half of it. Resolves when that half has left. */
export function sendHalf({ response, answer, headers }: Transmission): Promise<void> {
  const body = Buffer.from(answer.body);
  response.writeHead(answer.status, headers);
  // The head leaves with the first octets of the body, so even of a one-octet body, one has to be sent.
  const half = body.subarray(0, Math.max(1, Math.floor(body.length / 2)));
  return new Promise((resolve) => response.write(half, () => resolve()));
}

interface Drip {
  readonly part: 'headers' | 'body';
  readonly bytes: number;
  readonly everyMs: number;
}

/**
 * Sends the answer a few octets at a time, starting with its first header or with its body. It is written directly to
 * the socket, because a ServerResponse never splits its head.
 * @returns whether all of it was sent before the caller left
 */
export async function sendSlowly(transmission: Transmission, drip: Drip, waiting: Waiting): Promise<boolean> {
  const { socket } = transmission.response;
  if (socket === null) return false;
  const head = headOf(transmission);
  const body = Buffer.from(transmission.answer.body);
  const isHeadSlow = drip.part === 'headers';
  if (!isHeadSlow) socket.write(head);
  const rest = isHeadSlow ? Buffer.concat([head, body]) : body;
  for (let sent = 0; sent < rest.length && isOpen(socket); sent += drip.bytes) {
    await waiting.delay(drip.everyMs);
    socket.write(rest.subarray(sent, sent + drip.bytes));
  }
  const isWhole = isOpen(socket);
  socket.end();
  return isWhole;
}

function isOpen(socket: Socket): boolean {
  return !socket.destroyed && socket.writable;
}

/** RFC 9112, section 2.1; the connection ends with the answer. */
function headOf({ answer, headers }: Transmission): Buffer {
  const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}`);
  const statusLine = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? 'Unknown'}`;
  return Buffer.from([statusLine, ...lines, '', ''].join('\r\n'), 'latin1');
}
