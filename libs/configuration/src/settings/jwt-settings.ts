import { text } from '../setting.js';
import { audience, durationBetween, fileName, issuer, jwksUri } from '../value-rule.js';

/** Callers with JSON Web Tokens of one issuer, such as Kubernetes' projected service-account tokens. */
export class JwtSettings {
  @text('The `iss` of the tokens, character by character.', issuer)
  readonly issuer!: string;

  @text('Must be among the `aud` of a token.', audience)
  readonly audience!: string;

  @text('Where the issuer publishes its keys. Exactly one of `jwksUri` and `jwksFile`.', jwksUri, { optional: true })
  readonly jwksUri?: string;

  @text('The keys as a file, JSON Web Key Set.', fileName, { optional: true })
  readonly jwksFile?: string;

  @text('Bearer token for `jwksUri`, read anew at each request: Kubernetes wants one.', fileName, { optional: true })
  readonly jwksTokenFile?: string;

  @text('PEM authorities for `jwksUri` instead of the built-in ones.', fileName, { optional: true })
  readonly jwksCaFile?: string;

  @text('By how much the clocks of issuer and broker may differ.', durationBetween('0s', '5m'))
  readonly clockTolerance: string = '5s';
}
