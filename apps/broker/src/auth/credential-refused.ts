import { BrokerError } from '#libs/errors';

/** Why a credential was refused, for those who run the broker; the caller who presented it is never told. */
export const REFUSALS = [
  'missing',
  'malformed',
  'unknown_token',
  'expired',
  'not_yet_valid',
  'issuer',
  'audience',
  'claims',
  'type',
  'algorithm',
  'unknown_key',
  'signature',
  'certificate',
  'binding',
] as const;
export type Refusal = (typeof REFUSALS)[number];

/** A failed authentication. Never carries any part of the credential. */
export class CredentialRefused extends BrokerError {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super('unauthenticated', { detail: `credential refused: ${refusal}` });
    this.refusal = refusal;
  }
}
