import { text } from '../setting.js';
import { audience, durationBetween, fileName, issuer, jwksUri } from '../value-rule.js';

/** Callers with JSON Web Tokens of one issuer, such as Kubernetes' projected service-account tokens. */
export class JwtSettings {
  @text(issuer) readonly issuer!: string;
  @text(audience) readonly audience!: string;
  @text(jwksUri, { optional: true }) readonly jwksUri?: string;
  @text(fileName, { optional: true }) readonly jwksFile?: string;
  /** Sent as a bearer token with each request for the keys: Kubernetes wants one. Read anew each time. */
  @text(fileName, { optional: true }) readonly jwksTokenFile?: string;
  @text(fileName, { optional: true }) readonly jwksCaFile?: string;
  @text(durationBetween('0s', '5m')) readonly clockTolerance: string = '5s';
}
