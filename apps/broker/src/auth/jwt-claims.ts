import type { JWTHeaderParameters, JWTPayload } from 'jose';
import { type Instant, instantFromEpochMs } from '#libs/clock';
import { CredentialRefused } from './credential-refused.js';

/** Different kinds of token that an issuer signs with one key must not be confused (RFC 8725 section 3.11). */
const UNMARKED_TYPES: ReadonlySet<string> = new Set(['jwt', 'at+jwt']);

/** Claims found only in ID tokens (OpenID Connect Core) and logout tokens (Back-Channel Logout). */
const CLAIMS_OF_OTHER_KINDS = ['nonce', 'at_hash', 'c_hash', 's_hash', 'events'] as const;
/** Keycloak names the kind in a claim and leaves the header alone. */
const KINDS_OF_OTHERS: ReadonlySet<unknown> = new Set(['ID', 'Logout', 'Refresh', 'Offline']);

const MS_PER_S = 1_000;
/** The latest moment that a Date can hold. */
const MAX_EPOCH_S = 8.64e12;

/**
 * Checks that the token is of a kind that lets a caller in: one of the configured types or, if none are configured, an
 * access token or one that does not say, as long as it shows no sign of being another kind.
 * @throws CredentialRefused
 */
export function assertKind(types: readonly string[], { typ }: JWTHeaderParameters, payload: JWTPayload): void {
  const kind = typ === undefined ? undefined : shortType(typ);
  if (types.length > 0) {
    if (kind === undefined || !types.map(shortType).includes(kind)) throw new CredentialRefused('type');
    return;
  }
  const isOther = CLAIMS_OF_OTHER_KINDS.some((claim) => payload[claim] !== undefined);
  const isAllowed = kind === undefined || UNMARKED_TYPES.has(kind);
  if (!isAllowed || isOther || KINDS_OF_OTHERS.has(payload['typ'])) throw new CredentialRefused('type');
}

/** RFC 7515 section 4.1.9: a media type, whose `application/` may be left out; case does not matter. */
function shortType(type: string): string {
  return type.toLowerCase().replace(/^application\/(?=[^/]+$)/, '');
}

/**
 * When the token stops letting its caller in.
 * @throws CredentialRefused for a time that no clock can show
 */
export function endOf({ exp }: JWTPayload, toleranceMs: number): Instant {
  if (exp === undefined || !(Math.abs(exp) <= MAX_EPOCH_S)) throw new CredentialRefused('claims');
  return instantFromEpochMs(Math.min(exp * MS_PER_S + toleranceMs, MAX_EPOCH_S * MS_PER_S));
}

/**
 * The certificate that the token is bound to (RFC 8705 section 3.1); undefined for a token that is not bound. Other
 * ways of binding a token are not supported.
 * @throws CredentialRefused for a certificate that is not named as it must be
 */
export function certificateOf({ cnf }: JWTPayload): string | undefined {
  if (cnf === undefined) return undefined;
  if (typeof cnf !== 'object' || cnf === null) throw new CredentialRefused('claims');
  const thumbprint = (cnf as Record<string, unknown>)['x5t#S256'];
  if (thumbprint === undefined) return undefined;
  if (typeof thumbprint !== 'string' || !/^[\w-]{43}$/.test(thumbprint)) throw new CredentialRefused('claims');
  return thumbprint;
}
