import type { OutgoingHttpHeaders } from 'node:http';
import type { AnswerHeaders } from '#libs/outbound';
import { hopByHopOf } from './hop-by-hop.js';

/** The gateway's cookies would mix up its clients, and what it says about its own address is not true of ours. */
const KEPT_BACK: ReadonlySet<string> = new Set([
  'set-cookie',
  'alt-svc',
  'strict-transport-security',
  'x-device_id',
  'x-refresh_token',
]);

/** Also dropped: what is no longer true of a body that was opened. */
const OF_THE_BODY: ReadonlySet<string> = new Set([
  'content-length',
  'content-type',
  'content-encoding',
  'etag',
  'digest',
]);

interface AnswerFacts {
  /** The id of the request in our log; if the gateway sends its own, that takes precedence. */
  readonly requestId: string;
  readonly body: 'same' | 'changed';
}

/** The headers of the gateway's answer that the client gets. */
export function answerHeaders(given: AnswerHeaders, { requestId, body }: AnswerFacts): OutgoingHttpHeaders {
  const dropped = hopByHopOf(given);
  const headers: OutgoingHttpHeaders = { 'x-request-id': requestId };
  for (const name of Object.keys(given)) {
    const isOfAnotherBody = body === 'changed' && OF_THE_BODY.has(name);
    if (!isOfAnotherBody && !KEPT_BACK.has(name) && !dropped.has(name)) headers[name] = given[name];
  }
  return headers;
}
