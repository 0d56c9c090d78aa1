import { isJsonObject, type JsonObject } from './json.js';

/** As the egress of the session broker names itself, where the gateway would name one of its services. */
const EGRESS = 'session-egress';
/** By which a problem is known to be of this product, of the broker or the egress. */
const PROBLEM_TYPE = 'urn:session-broker:problem:';
const NO_RESOURCE = 'route_not_found';
const PAYMENT_AT_BROKER = 'this is a broker: ';

/** Who answered, where it was somebody of this product and no gateway. */
export type OwnAnswer = 'an egress' | 'a broker or an egress';

export function isOfAnEgress(document: unknown): boolean {
  return isJsonObject(document) && document['serviceId'] === EGRESS;
}

export function isProblemOfOurs(document: unknown): document is JsonObject {
  return isJsonObject(document) && typeof document['type'] === 'string' && document['type'].startsWith(PROBLEM_TYPE);
}

/**
 * By what only something that is no call of theirs meets, such as a payment: no resource, or a broker that names the egress
 * beside its 401. Any other problem may be of a call to the broker that came after the payment, such as to open its answer.
 */
export function isOfMisdirectedPayment(document: unknown): boolean {
  if (!isProblemOfOurs(document)) return false;
  const { code, detail } = document as { readonly code?: unknown; readonly detail?: unknown };
  return code === NO_RESOURCE || (typeof detail === 'string' && detail.startsWith(PAYMENT_AT_BROKER));
}

/** Who made a document that was to be the gateway's; undefined for everybody else's. */
export function ownAnswerOf(document: unknown): OwnAnswer | undefined {
  if (isProblemOfOurs(document)) return 'a broker or an egress';
  return isOfAnEgress(document) ? 'an egress' : undefined;
}
