import type { IncomingHttpHeaders } from 'node:http';
import { inspect } from '../bodies/card-data.js';
import { requestHeaders } from '../gateway/request-headers.js';
import { decodedAnswer, isEncoded } from './answer-body.js';
import type { AdmittedRequest, ExchangeParts } from './exchange-parts.js';
import { passOn } from './pass-on.js';
import { sendOnceOrTwice } from './send-once-or-twice.js';

/** Held back until it is known whether they report a dead session; the gateway's errors are far shorter. */
const MAX_LOOKED_AT_BYTES = 16_384;

/** A request whose bodies pass unchanged: only the session's headers are added. */
export async function exchangeClear(admitted: AdmittedRequest, parts: ExchangeParts): Promise<void> {
  const { request, response, requestId, target, body, gone, trail, route } = admitted;
  inspect(body, admitted);
  const answer = await sendOnceOrTwice({ session: parts.session, request, gone, trail }, async (session, trace) => {
    const passed = requestHeaders(request.headers, session, parts.gateway.passedHeaders);
    const headers = { ...passed, 'content-type': 'application/json', ...trace };
    const outgoing = { method: 'POST', path: target.path + target.query, headers, body };
    const answered = await parts.gateway.send(outgoing, { heldBytes, gone });
    return await decodedAnswer(answered, MAX_LOOKED_AT_BYTES);
  });
  await passOn(answer, { response, requestId, maxBytes: route.maxBytes });
}

/** Only what can be an error from the gateway is held back. */
function heldBytes({ status, headers }: { readonly status: number; readonly headers: IncomingHttpHeaders }): number {
  const type = headers['content-type'];
  const canBeAnError = type === undefined || type.includes('json') || status >= 400 || isEncoded(headers);
  return canBeAnError ? MAX_LOOKED_AT_BYTES : 0;
}
