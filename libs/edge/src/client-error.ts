import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { BrokerError, type ErrorCode } from '#libs/errors';
import { PROBLEM_CONTENT_TYPE, problemOf } from './problem.js';

const codeOfParserError: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/** Answers what is not an HTTP request at all, or has headers that are too large: no route ever sees it. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  // Anything but a fault of the parser or the timeout of a request, such as a failed handshake, cannot be answered in
  // HTTP.
  const isHttp = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' || error.code?.startsWith('HPE_') === true;
  if (!isHttp || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const code = codeOfParserError[error.code ?? ''] ?? 'invalid_request';
  const problem = problemOf(new BrokerError(code), randomUUID());
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? 'Error'}`,
    `content-type: ${PROBLEM_CONTENT_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${problem.requestId}`,
    'cache-control: no-store',
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
