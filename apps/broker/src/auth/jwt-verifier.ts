import { errors, type JWTPayload, jwtVerify } from 'jose';
import { type Clock, instantFromEpochMs } from '#libs/clock';
import { isCallerName, type JwtConfiguration } from '#libs/configuration';
import type { Caller } from './caller.js';
import { CredentialRefused, type Refusal } from './credential-refused.js';
import type { KeySet } from './key-set.js';

/** Asymmetric ones only: with a shared secret, everybody who checks tokens could make them (RFC 8725 section 3.1). */
const ALGORITHMS = [
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
];

const MS_PER_S = 1_000;

/** Checks JSON Web Tokens (RFC 7519) of one issuer. The caller is the token's subject. */
export class JwtVerifier {
  readonly #jwt: Omit<JwtConfiguration, 'keys'>;
  readonly #keys: KeySet;
  readonly #clock: Clock;

  constructor(jwt: Omit<JwtConfiguration, 'keys'>, keys: KeySet, clock: Clock) {
    this.#jwt = jwt;
    this.#keys = keys;
    this.#clock = clock;
  }

  /** @throws CredentialRefused; BrokerError `authentication_unavailable` while the issuer's keys cannot be had */
  async verify(token: string): Promise<Caller> {
    const { sub, exp } = await this.#payloadOf(token);
    // The library leaves the type of `sub` to its users: `5` would not be a caller's name.
    if (typeof sub !== 'string' || !isCallerName(sub) || exp === undefined) throw new CredentialRefused('claims');
    return { name: sub, validUntil: instantFromEpochMs(exp * MS_PER_S) };
  }

  async #payloadOf(token: string): Promise<JWTPayload> {
    const { issuer, audience, clockToleranceMs } = this.#jwt;
    try {
      const { payload } = await jwtVerify(token, (header, input) => this.#keys.find(header, input), {
        issuer,
        audience,
        algorithms: ALGORITHMS,
        clockTolerance: clockToleranceMs / MS_PER_S,
        currentDate: new Date(this.#clock.now()),
        requiredClaims: ['sub', 'exp'],
      });
      return payload;
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
