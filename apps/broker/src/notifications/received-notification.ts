import { BrokerError } from '#libs/errors';

/** A notification as somebody received it; names of headers in any case. */
export interface ReceivedNotification {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

const ENCRYPTED = 'x-encrypted_body';
/** Five parts of base64url: no JSON can look like that. */
const COMPACT_JWE = /^[\w-]+(\.[\w-]*){4}$/;
const MAX_HEADERS = 128;

/**
 * The JWE that the body is, or undefined for one in clear. The header says so; a body that is a compact JWE is one
 * whatever the headers have become on their way.
 * @throws BrokerError `invalid_request` for headers that are none
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
