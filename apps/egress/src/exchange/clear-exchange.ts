import type { Readable } from 'node:stream';
import { BrokerError } from '#libs/errors';
import { type AnswerHeaders, headerOf } from '#libs/outbound';
import { requestHeaders } from '../gateway/request-headers.js';
import type { AdmittedRequest, ExchangeParts } from './exchange-parts.js';
import { passOn } from './pass-on.js';
import { demandLength, readUpTo, wholeStream } from './request-body.js';
import { sendOnceOrTwice } from './send-once-or-twice.js';

/** Kept, so that the request can be sent again. A longer body is streamed and sent only once. */
const MAX_KEPT_BYTES = 65_536;
/** Held back until it is known whether they report a dead session; the gateway's errors are far shorter. */
const MAX_LOOKED_AT_BYTES = 16_384;

/** A request whose bodies pass unchanged: only the session's headers are added. */
export async function exchangeClear(admitted: AdmittedRequest, parts: ExchangeParts): Promise<void> {
  const { request, path, gone, trail, route } = admitted;
  const body = await bodyOf(admitted);
  const answer = await sendOnceOrTwice(
    { session: parts.session, request, gone, trail },
    (session, trace) => {
      const headers = { ...requestHeaders(request.headers, session), ...body.headers, ...trace };
      const outgoing = { method: request.method ?? 'GET', path, headers, body: body.content };
      return parts.gateway.send(outgoing, { heldBytes, gone });
    },
    { isRepeatable: body.isRepeatable },
  );
  const { response, requestId } = admitted;
  await passOn(answer, { response, requestId, maxBytes: route.maxBytes, isHead: request.method === 'HEAD' });
}

interface OutgoingBody {
  readonly content: Buffer | Readable | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly isRepeatable: boolean;
}

async function bodyOf({ request, route, wantBody }: AdmittedRequest): Promise<OutgoingBody> {
  const length = request.headers['content-length'];
  if (length === undefined && request.headers['transfer-encoding'] === undefined) {
    return { content: null, headers: {}, isRepeatable: true };
  }
  demandLength(request, route.maxBytes);
  wantBody();
  const { bytes, hasEnded } = await readUpTo(request, Math.min(MAX_KEPT_BYTES, route.maxBytes));
  if (hasEnded) return { content: bytes, headers: {}, isRepeatable: true };
  if (bytes.byteLength > route.maxBytes) throw new BrokerError('payload_too_large');
  const headers = length === undefined ? {} : { 'content-length': length };
  return { content: wholeStream(request, bytes, route.maxBytes), headers, isRepeatable: false };
}

/** Only what can be an error from the gateway is held back. */
function heldBytes({ status, headers }: { readonly status: number; readonly headers: AnswerHeaders }): number {
  const type = headerOf(headers, 'content-type');
  const canBeAnError = type === undefined || type.includes('json') || status >= 400;
  return canBeAnError ? MAX_LOOKED_AT_BYTES : 0;
}
