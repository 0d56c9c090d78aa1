import { BrokerError } from '#libs/errors';
import { headerOf } from '#libs/outbound';
import { inspect } from '../bodies/card-data.js';
import { answerHeaders } from '../gateway/answer-headers.js';
import type { GatewayAnswer } from '../gateway/gateway-exchange.js';
import { requestHeaders } from '../gateway/request-headers.js';
import type { AdmittedRequest, ExchangeParts } from './exchange-parts.js';
import { type SealedAnswer, sealedAnswerOf } from './sealed-answer.js';
import { sendOnceOrTwice } from './send-once-or-twice.js';

/** A JWE of a plaintext of 64 KiB is some 88 KiB, and an answer may be a little longer than the request. */
const MAX_ANSWER_BYTES = 262_144;
const JSON_TYPE = 'application/json';
/** As the interface description requires for a sealed body. */
const SEALED_TYPE = 'text/plain';

/** A request whose bodies are sealed on the way: to the session's key, and back to the merchant's. */
export async function exchangeSealed(admitted: AdmittedRequest, parts: ExchangeParts): Promise<void> {
  const { request, target, gone, record, form, client } = admitted;
  const path = target.path + target.query;
  const plaintext = await plaintextOf(admitted, parts);
  inspect(plaintext, admitted);
  const heldBytes = (): number => MAX_ANSWER_BYTES;
  const answer = await sendOnceOrTwice({ session: parts.session, gone, record }, async (session, trace) => {
    const body = Buffer.from(await parts.session.seal(session, plaintext));
    const passed = requestHeaders(request.headers, session, parts.gateway.passedHeaders);
    const headers = { ...passed, 'content-type': SEALED_TYPE, ...trace };
    return parts.gateway.send({ method: 'POST', path, headers, body }, { heldBytes, gone });
  });
  await give(answer, sealedAnswerOf(answer), { admitted, parts });
  void parts.session.prepareSeal();
  if (form !== 'plain') void parts.alias.prepareSeal(client);
}

async function plaintextOf(admitted: AdmittedRequest, { alias }: ExchangeParts): Promise<Buffer> {
  const { request, client, form, body } = admitted;
  if (form === 'plain') {
    demandJson(request.headers['content-type']);
    return body;
  }
  // Published clients quote it, as a JSON string.
  const [, jwe = ''] = /^"?(.*?)"?$/s.exec(body.toString('latin1').trim()) ?? [];
  const { buffer, byteOffset, byteLength } = await alias.open(client, jwe);
  return Buffer.from(buffer, byteOffset, byteLength);
}

function demandJson(type: string | undefined): void {
  if (type?.split(';', 1)[0]?.trim().toLowerCase() === JSON_TYPE) return;
  throw new BrokerError('unsupported_media_type', { publicDetail: `the body must be ${JSON_TYPE}; it is sealed here` });
}

interface Giving {
  readonly admitted: AdmittedRequest;
  readonly parts: ExchangeParts;
}

/** Opened for a plain client, and resealed for one that opens answers itself; errors are in the clear for both. */
async function give(answer: GatewayAnswer, sealed: SealedAnswer, { admitted, parts }: Giving): Promise<void> {
  const { form, client, response, requestId } = admitted;
  const headers = answerHeaders(answer.headers, { requestId, body: 'changed' });
  let body: Uint8Array | string;
  if (sealed.kind === 'sealed') {
    const opened = await parts.session.open(sealed.jwe);
    body = form === 'plain' ? opened : await parts.alias.seal(client, opened);
    headers['content-type'] = JSON_TYPE;
  } else {
    body = sealed.bytes;
    const type = headerOf(answer.headers, 'content-type');
    if (type !== undefined) headers['content-type'] = type;
  }
  headers['content-length'] = Buffer.byteLength(body);
  response.writeHead(answer.status, headers).end(body);
}
