import type { IncomingMessage, ServerResponse } from 'node:http';
import { edgeHeaders, PROBLEM_CONTENT_TYPE, problemOf } from '#libs/edge';
import type { BrokerError } from '#libs/errors';
import type { Form } from '../callers/callers.js';
import { gatewayErrorOf } from './gateway-error.js';

interface Answering {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly form: Form;
}

/** Answers a failure of ours in the language of the client: problem details, or the gateway's own form. */
export function answerFailure(failure: BrokerError, { request, response, requestId, form }: Answering): void {
  const { type, body } =
    form === 'alias'
      ? { type: 'application/json', body: JSON.stringify(gatewayErrorOf(failure, requestId)) }
      : { type: PROBLEM_CONTENT_TYPE, body: JSON.stringify(problemOf(failure, requestId)) };
  // What is left of the body is not read: the connection is of no more use.
  if (!request.complete) response.shouldKeepAlive = false;
  const { retryAfterMs } = failure;
  response.writeHead(failure.entry.status, {
    ...edgeHeaders(requestId),
    'cache-control': 'no-store',
    ...(retryAfterMs === undefined ? {} : { 'retry-after': Math.max(1, Math.ceil(retryAfterMs / 1_000)) }),
    ...(failure.code === 'unauthenticated' && form === 'plain' ? { 'www-authenticate': 'Bearer' } : {}),
    'content-type': type,
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}
