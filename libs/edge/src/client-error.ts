import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { BrokerError, type ErrorCode } from '#libs/errors';
import { TLSSocket } from 'node:tls';
import { requestIdOf, STRICT_TRANSPORT } from './edge-headers.js';
import { readerOf } from './one-request-at-a-time.js';
import { type MoreMembers, refusal } from './problem.js';

const codeOfParserError: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'payload_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/** As reported by Node.js. */
type ParserError = Error & { readonly code?: string };

const UNREADABLE =
  'this cannot be read as HTTP: is there a line break in a header, or an unknown method, or does the client speak TLS here?';

/** Answers input that is not an HTTP request at all, or has headers that are too large: no route ever sees it. */
export function answerClientError(error: ParserError, socket: Socket, more?: MoreMembers): void {
  // Anything but a parser error or a request timeout, such as a failed handshake, cannot be answered in HTTP.
  const isHttp = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' || error.code?.startsWith('HPE_') === true;
  if (!isHttp || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const known = codeOfParserError[error.code ?? ''];
  const unread = new BrokerError('invalid_request', { publicDetail: UNREADABLE });
  answerRaw(socket, known === undefined ? unread : new BrokerError(known), more);
}

/**
 * Answers with a problem document if there is no response to answer with, and ends the connection. If an answer has
 * begun, nothing more is written: what has been written goes out, and the connection ends.
 */
export function answerRaw(socket: Socket, error: BrokerError, more?: MoreMembers): void {
  const reader = readerOf(socket);
  if (reader?.endBehindAnswer() === true) return;
  const request = reader?.request;
  const { status, headers, body } = refusal(error, request === undefined ? randomUUID() : requestIdOf(request), more);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(socket instanceof TLSSocket ? [`strict-transport-security: ${STRICT_TRANSPORT}`] : []),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
