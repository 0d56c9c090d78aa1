import { inspect } from '../bodies/card-data.js';
import { type AnswerHeaders, headerOf } from '#libs/outbound';
import { requestHeaders } from '../gateway/request-headers.js';
import type { AdmittedRequest, ExchangeParts } from './exchange-parts.js';
import { passOn } from './pass-on.js';
import { sendOnceOrTwice } from './send-once-or-twice.js';

/** Held back until it is known whether they report a dead session; the gateway's errors are far shorter. */
const MAX_LOOKED_AT_BYTES = 16_384;

/** A request whose bodies pass unchanged: only the session's headers are added. */
export async function exchangeClear(admitted: AdmittedRequest, parts: ExchangeParts): Promise<void> {
  const { request, response, requestId, target, body, gone, record, route } = admitted;
  inspect(body, admitted);
  const answer = await sendOnceOrTwice({ session: parts.session, gone, record }, (session, trace) => {
    const headers = requestHeaders(request.headers, session, parts.gateway.passedHeaders);
    headers['content-type'] = 'application/json';
    Object.assign(headers, trace);
    return parts.gateway.send({ method: 'POST', path: target.path + target.query, headers, body }, { heldBytes, gone });
  });
  await passOn(answer, { response, requestId, maxBytes: route.maxBytes });
}

/** Only what can be an error from the gateway is held back. */
function heldBytes({ status, headers }: { readonly status: number; readonly headers: AnswerHeaders }): number {
  const type = headerOf(headers, 'content-type');
  const canBeAnError = type === undefined || type.includes('json') || status >= 400;
  return canBeAnError ? MAX_LOOKED_AT_BYTES : 0;
}
