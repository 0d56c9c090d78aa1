import { BrokerError } from '#libs/errors';

/** A notification as it was received; header names in any case. */
export interface ReceivedNotification {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

const ENCRYPTED = 'x-encrypted_body';
/** Five base64url parts: no JSON can look like that. */
const COMPACT_JWE = /^[\w-]+(\.[\w-]*){4}$/;
const MAX_HEADERS = 128;

/**
 * The JWE in the body, or undefined for a body in the clear. The header says which; a body that is a compact JWE is
 * treated as one, whatever has happened to the headers on the way.
 * @throws BrokerError `invalid_request` for invalid headers
 */
export function sealedBodyOf({ headers, body }: ReceivedNotification): string | undefined {
  const given = Object.entries(headers);
  if (given.length > MAX_HEADERS || !given.every(([, value]) => isHeaderValue(value))) {
    throw new BrokerError('invalid_request', {
      publicDetail: `headers: must be at most ${MAX_HEADERS} names, each with a text or a list of texts`,
    });
  }
  const trimmed = body.trim();
  const says = given.filter(([name]) => name.toLowerCase() === ENCRYPTED).flatMap(([, value]) => value);
  const isSaid = says.some((value) => String(value).trim().toLowerCase() === 'true');
  return isSaid || COMPACT_JWE.test(trimmed) ? trimmed : undefined;
}

function isHeaderValue(value: unknown): boolean {
  return typeof value === 'string' || (Array.isArray(value) && value.every((one) => typeof one === 'string'));
}
