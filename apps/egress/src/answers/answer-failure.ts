import { type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from 'node:http';
import { edgeHeaders, PROBLEM_CONTENT_TYPE, problemOf } from '#libs/edge';
import type { BrokerError } from '#libs/errors';
import type { Form } from '../callers/callers.js';
import { gatewayErrorOf, SERVICE } from './gateway-error.js';

interface Answering {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Undefined where nothing tells it. */
  readonly form: Form | undefined;
}

/** Paths of the broker's API: a client that asks for one here uses the egress's URL in place of the broker's. */
const OF_THE_BROKER = '/v1/merchants/';

function named({ url = '' }: IncomingMessage): object {
  if (!url.startsWith(OF_THE_BROKER)) return {};
  return { serviceId: SERVICE, detail: 'this is an egress; sessions are read at the broker' };
}

/**
 * Answers a failure of ours in the client's form: problem details, or the gateway's own form. Where it is not known,
 * the answer has the members of both: a client of the gateway that finds no `msgType` takes it for a success.
 */
export function answerFailure(failure: BrokerError, { request, response, requestId, form }: Answering): void {
  const body = JSON.stringify({
    ...(form !== 'alias' && { ...problemOf(failure, requestId), ...named(request) }),
    ...(form !== 'plain' && gatewayErrorOf(failure, requestId)),
  });
  // The rest of the body is not read, so the connection cannot be reused.
  if (!request.complete) response.shouldKeepAlive = false;
  const { retryAfterMs } = failure;
  const headers: OutgoingHttpHeaders = {
    ...edgeHeaders(requestId),
    'cache-control': 'no-store',
    'content-type': form === 'alias' ? 'application/json' : PROBLEM_CONTENT_TYPE,
    'content-length': Buffer.byteLength(body),
  };
  if (retryAfterMs !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfterMs / 1_000)));
  if (failure.code === 'method_not_allowed') headers['allow'] = 'POST';
  if (failure.code === 'unauthenticated' && form !== 'alias') headers['www-authenticate'] = 'Bearer';
  // An answer that could not be started may have left its own reason phrase.
  const { status } = failure.entry;
  response.writeHead(status, STATUS_CODES[status], headers).end(body);
}
