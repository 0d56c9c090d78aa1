import { type CryptoKey, errors, jwtVerify, type JWTVerifyGetKey, type JWTVerifyResult, type ResolvedKey } from 'jose';
import type { Clock } from '#libs/clock';
import { isCallerName, type JwtConfiguration } from '#libs/configuration';
import { SIGNATURE_ALGORITHMS } from '#libs/issuer';
import { CredentialRefused, type Refusal } from './credential-refused.js';
import { assertKind, certificateOf, endOf } from './jwt-claims.js';
import { keyName, type KeySet } from './key-set.js';
import type { VerifiedToken } from './verified-tokens.js';

const MS_PER_S = 1_000;

/** Checks JSON Web Tokens (RFC 7519) of one issuer. The caller is the token's subject. */
export class JwtVerifier {
  readonly #jwt: Omit<JwtConfiguration, 'keys'>;
  readonly #keys: Pick<KeySet, 'find' | 'has'>;
  readonly #clock: Clock;

  constructor(jwt: Omit<JwtConfiguration, 'keys'>, keys: Pick<KeySet, 'find' | 'has'>, clock: Clock) {
    this.#jwt = jwt;
    this.#keys = keys;
    this.#clock = clock;
  }

  /** @throws CredentialRefused; BrokerError `authentication_unavailable` while the issuer's keys are unavailable */
  async verify(token: string): Promise<VerifiedToken> {
    const { payload, protectedHeader, key: signer } = await this.#verified(token);
    const key = keyName(signer as CryptoKey);
    // The key set may have changed while the signature was being checked.
    if (!this.#keys.has(key)) throw new CredentialRefused('unknown_key');
    assertKind(this.#jwt.types, protectedHeader, payload);
    const { sub } = payload;
    // The library does not check the type of `sub`: `5` would not be a caller's name.
    if (typeof sub !== 'string' || !isCallerName(sub)) throw new CredentialRefused('claims');
    const certificate = certificateOf(payload);
    const caller = {
      name: sub,
      validUntil: endOf(payload, this.#jwt.clockToleranceMs),
      ...(certificate === undefined ? {} : { certificate }),
    };
    return { caller, key };
  }

  async #verified(token: string): Promise<JWTVerifyResult & ResolvedKey> {
    const { issuer, audience, clockToleranceMs } = this.#jwt;
    const findKey: JWTVerifyGetKey = (header, input) => this.#keys.find(header, input);
    try {
      return await jwtVerify(token, findKey, {
        issuer,
        audience,
        algorithms: [...SIGNATURE_ALGORITHMS],
        clockTolerance: clockToleranceMs / MS_PER_S,
        currentDate: new Date(this.#clock.now()),
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
