import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
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
      ? { type: 'application/json', body: gatewayErrorOf(failure, requestId).body }
      : { type: PROBLEM_CONTENT_TYPE, body: JSON.stringify(problemOf(failure, requestId)) };
  // What is left of the body is not read: the connection is of no more use.
  if (!request.complete) response.shouldKeepAlive = false;
  const { retryAfterMs } = failure;
  const headers: OutgoingHttpHeaders = {
    ...edgeHeaders(requestId),
    'cache-control': 'no-store',
    'content-type': type,
    'content-length': Buffer.byteLength(body),
  };
  if (retryAfterMs !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfterMs / 1_000)));
  if (failure.code === 'unauthenticated' && form === 'plain') headers['www-authenticate'] = 'Bearer';
  response.writeHead(failure.entry.status, headers).end(body);
}
