import { isJsonObject, type JsonObject } from './json.js';

/** As the egress of the session broker names itself, where the gateway would name one of its services. */
const EGRESS = 'session-egress';
/** By which a problem is known to be of this product, of the broker or the egress. */
const PROBLEM_TYPE = 'urn:session-broker:problem:';

/** Who answered, where it was somebody of this product and no gateway. */
export type OwnAnswer = 'an egress' | 'a broker or an egress';

export function isOfAnEgress(document: unknown): boolean {
  return isJsonObject(document) && document['serviceId'] === EGRESS;
}

export function isProblemOfOurs(document: unknown): document is JsonObject {
  return isJsonObject(document) && typeof document['type'] === 'string' && document['type'].startsWith(PROBLEM_TYPE);
}

/** Who made a document that was to be the gateway's; undefined for everybody else's. */
export function ownAnswerOf(document: unknown): OwnAnswer | undefined {
  if (isProblemOfOurs(document)) return 'a broker or an egress';
  return isOfAnEgress(document) ? 'an egress' : undefined;
}
