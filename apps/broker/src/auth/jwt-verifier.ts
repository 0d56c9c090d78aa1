import {
  type CryptoKey,
  errors,
  type JWTHeaderParameters,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyGetKey,
  type JWTVerifyResult,
  type ResolvedKey,
} from 'jose';
import { type Clock, type Instant, instantFromEpochMs } from '#libs/clock';
import { isCallerName, type JwtConfiguration } from '#libs/configuration';
import { SIGNATURE_ALGORITHMS } from '#libs/issuer';
import { LRUCache } from 'lru-cache';
import { type Caller, CredentialRefused, type Refusal } from './caller.js';
import { keyName, type KeySet } from './key-set.js';

const MS_PER_S = 1_000;

/** Checks JSON Web Tokens (RFC 7519) of one issuer. The caller is the token's subject. */
export class JwtVerifier {
  constructor(
    private readonly jwt: Omit<JwtConfiguration, 'keys'>,
    private readonly keys: Pick<KeySet, 'find' | 'has'>,
    private readonly clock: Clock,
  ) {}

  /** @throws CredentialRefused; BrokerError `authentication_unavailable` while the issuer's keys are unavailable */
  async verify(token: string): Promise<VerifiedToken> {
    const { payload, protectedHeader, key: signer } = await this.#verified(token);
    const key = keyName(signer as CryptoKey);
    // The key set may have changed while the signature was being checked.
    if (!this.keys.has(key)) throw new CredentialRefused('unknown_key');
    assertKind(this.jwt.types, protectedHeader, payload);
    const { sub } = payload;
    // The library does not check the type of `sub`: `5` would not be a caller's name.
    if (typeof sub !== 'string' || !isCallerName(sub)) throw new CredentialRefused('claims');
    const certificate = certificateOf(payload);
    const caller = {
      name: sub,
      validUntil: endOf(payload, this.jwt.clockToleranceMs),
      ...(certificate === undefined ? {} : { certificate }),
    };
    return { caller, key };
  }

  async #verified(token: string): Promise<JWTVerifyResult & ResolvedKey> {
    const { issuer, audience, clockToleranceMs } = this.jwt;
    const findKey: JWTVerifyGetKey = (header, input) => this.keys.find(header, input);
    try {
      return await jwtVerify(token, findKey, {
        issuer,
        audience,
        algorithms: [...SIGNATURE_ALGORITHMS],
        clockTolerance: clockToleranceMs / MS_PER_S,
        currentDate: new Date(this.clock.now()),
        requiredClaims: ['sub', 'exp'],
      });
    } catch (error) {
      if (error instanceof errors.JOSEError) throw new CredentialRefused(refusalOf(error));
      throw error;
    }
  }
}

const byClaim: Readonly<Record<string, Refusal>> = { iss: 'issuer', aud: 'audience', nbf: 'not_yet_valid' };

function refusalOf(error: errors.JOSEError): Refusal {
  if (error instanceof errors.JWTExpired) return 'expired';
  if (error instanceof errors.JWTClaimValidationFailed) return byClaim[error.claim] ?? 'claims';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'algorithm';
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
    return 'unknown_key';
  return 'malformed';
}

/** Different kinds of token that an issuer signs with one key must not be confused (RFC 8725 section 3.11). */
const UNMARKED_TYPES: ReadonlySet<string> = new Set(['jwt', 'at+jwt']);

/** Claims found only in ID tokens (OpenID Connect Core) and logout tokens (Back-Channel Logout). */
const CLAIMS_OF_OTHER_KINDS = ['nonce', 'at_hash', 'c_hash', 's_hash', 'events'] as const;
/** Keycloak names the kind in a claim and leaves the header alone. */
const KINDS_OF_OTHERS: ReadonlySet<unknown> = new Set(['ID', 'Logout', 'Refresh', 'Offline']);

/** The latest moment that a Date can hold. */
const MAX_EPOCH_S = 8.64e12;

/**
 * Checks that the token is of a kind that lets a caller in: one of the configured types or, if none are configured, an
 * access token or one that does not say, as long as it shows no sign of being another kind.
 * @throws CredentialRefused
 */
function assertKind(types: readonly string[], { typ }: JWTHeaderParameters, payload: JWTPayload): void {
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
function endOf({ exp }: JWTPayload, toleranceMs: number): Instant {
  if (exp === undefined || !(Math.abs(exp) <= MAX_EPOCH_S)) throw new CredentialRefused('claims');
  return instantFromEpochMs(Math.min(exp * MS_PER_S + toleranceMs, MAX_EPOCH_S * MS_PER_S));
}

/**
 * The certificate that the token is bound to (RFC 8705 section 3.1); undefined for a token that is not bound. Other
 * ways of binding a token are not supported.
 * @throws CredentialRefused for a certificate that is not named as it must be
 */
function certificateOf({ cnf }: JWTPayload): string | undefined {
  if (cnf === undefined) return undefined;
  if (typeof cnf !== 'object' || cnf === null) throw new CredentialRefused('claims');
  const thumbprint = (cnf as Record<string, unknown>)['x5t#S256'];
  if (thumbprint === undefined) return undefined;
  if (typeof thumbprint !== 'string' || !/^[\w-]{43}$/.test(thumbprint)) throw new CredentialRefused('claims');
  return thumbprint;
}

/** A service has one token, or a few during a rotation: if there are more than this, someone is trying tokens out. */
const MAX_TOKENS = 10_000;

/** The result of checking a token. */
export interface VerifiedToken {
  readonly caller: Caller;
  /** The key that signed it, as the issuer's set knows it. */
  readonly key: string;
}

/**
 * Tokens whose signature has been checked, by digest, until they expire or their key leaves the issuer's set. The set
 * is asked every time: a check that ends after the key has left adds nothing that would be found. Bounded: the least
 * recently used go first.
 */
export class VerifiedTokens {
  readonly #tokens: LRUCache<string, VerifiedToken>;

  /** @param before tokens checked under the same terms against other keys; each is still checked against these */
  constructor(
    private readonly clock: Clock,
    private readonly keys: Pick<KeySet, 'has'>,
    { before, max = MAX_TOKENS }: { before?: VerifiedTokens | undefined; max?: number } = {},
  ) {
    this.#tokens = before === undefined ? new LRUCache({ max }) : before.#tokens;
  }

  find(digest: string): Caller | undefined {
    const token = this.#tokens.get(digest);
    if (token === undefined) return undefined;
    const { caller, key } = token;
    // By the clock that everything else uses: the cache's own time-to-live would use a different one.
    const isGood = caller.validUntil !== undefined && caller.validUntil > this.clock.now();
    if (isGood && this.keys.has(key)) return caller;
    this.#tokens.delete(digest);
    return undefined;
  }

  remember(digest: string, token: VerifiedToken): void {
    this.#tokens.set(digest, token);
  }

  get size(): number {
    return this.#tokens.size;
  }
}
