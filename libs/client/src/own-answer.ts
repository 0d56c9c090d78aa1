import { isJsonObject, type JsonObject } from './json.js';

/** How the egress names itself where the gateway would name one of its services. */
const EGRESS = 'session-egress';
/** Marks a problem document as coming from this product, the broker or the egress. */
const PROBLEM_TYPE = 'urn:session-broker:problem:';
const NO_RESOURCE = 'route_not_found';
const PAYMENT_AT_BROKER = 'this is a broker: ';

/** Who answered, if it was part of this product and not a gateway. */
export type OwnAnswer = 'an egress' | 'a broker or an egress';

export function isOfAnEgress(document: unknown): boolean {
  return isJsonObject(document) && document['serviceId'] === EGRESS;
}

export function isProblemOfOurs(document: unknown): document is JsonObject {
  return isJsonObject(document) && typeof document['type'] === 'string' && document['type'].startsWith(PROBLEM_TYPE);
}

/**
 * Recognizes problems that only a misdirected request, such as a payment, can get: no such resource, or a broker's 401
 * that refers to the egress. Any other problem may come from a call to the broker made after the payment, such as to
 * open its answer.
 */
export function isOfMisdirectedPayment(document: unknown): boolean {
  if (!isProblemOfOurs(document)) return false;
  const { code, detail } = document as { readonly code?: unknown; readonly detail?: unknown };
  return code === NO_RESOURCE || (typeof detail === 'string' && detail.startsWith(PAYMENT_AT_BROKER));
}

/** Which part of this product made a document expected from the gateway; undefined for anyone else's. */
export function ownAnswerOf(document: unknown): OwnAnswer | undefined {
  if (isProblemOfOurs(document)) return 'a broker or an egress';
  return isOfAnEgress(document) ? 'an egress' : undefined;
}
