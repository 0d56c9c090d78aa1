import { type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from 'node:http';
import { edgeHeaders, PROBLEM_CONTENT_TYPE, problemOf } from '#libs/edge';
import type { BrokerError } from '#libs/errors';
import type { Form } from '../callers/callers.js';
import { gatewayErrorOf, SERVICE } from './gateway-error.js';

interface Answering {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly form: Form;
}

/** Paths of the broker's API: a client that asks for one here uses the egress's URL in place of the broker's. */
const OF_THE_BROKER = '/v1/merchants/';

/** Methods that are never passed on; if any other method is refused, only POST is allowed. */
const NEVER_PASSED_ON: readonly unknown[] = ['CONNECT', 'TRACE'];
const PASSED_ON = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

function named({ url = '' }: IncomingMessage): object {
  if (!url.startsWith(OF_THE_BROKER)) return {};
  return { serviceId: SERVICE, detail: 'this is an egress; sessions are read at the broker' };
}

/** Answers a failure of ours in the client's form: problem details, or the gateway's own form. */
export function answerFailure(failure: BrokerError, { request, response, requestId, form }: Answering): void {
  const { type, body } =
    form === 'alias'
      ? { type: 'application/json', body: gatewayErrorOf(failure, requestId).body }
      : { type: PROBLEM_CONTENT_TYPE, body: JSON.stringify({ ...problemOf(failure, requestId), ...named(request) }) };
  // The rest of the body is not read, so the connection cannot be reused.
  if (!request.complete) response.shouldKeepAlive = false;
  const { retryAfterMs } = failure;
  const headers: OutgoingHttpHeaders = {
    ...edgeHeaders(requestId),
    'cache-control': 'no-store',
    'content-type': type,
    'content-length': Buffer.byteLength(body),
  };
  if (retryAfterMs !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfterMs / 1_000)));
  if (failure.code === 'method_not_allowed') {
    headers['allow'] = NEVER_PASSED_ON.includes(request.method) ? PASSED_ON : 'POST';
  }
  if (failure.code === 'unauthenticated' && form === 'plain') headers['www-authenticate'] = 'Bearer';
  // An answer that could not be started may have left its own reason phrase.
  const { status } = failure.entry;
  response.writeHead(status, STATUS_CODES[status], headers).end(body);
}
