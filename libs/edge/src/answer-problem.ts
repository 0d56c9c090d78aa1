import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BrokerError } from '#libs/errors';
import { edgeHeaders, requestIdOf } from './edge-headers.js';
import { PROBLEM_CONTENT_TYPE, problemOf } from './problem.js';

/** Refuses a request before any handler, with a problem document, and ends its connection. */
export function answerProblem(request: IncomingMessage, response: ServerResponse, error: BrokerError): void {
  const requestId = requestIdOf(request);
  const problem = problemOf(error, requestId);
  const body = JSON.stringify(problem);
  response.writeHead(problem.status, {
    ...edgeHeaders(requestId),
    'content-type': PROBLEM_CONTENT_TYPE,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    // Does not wait for a body that nobody wants.
    connection: 'close',
  });
  response.end(body);
}
