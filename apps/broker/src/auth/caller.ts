import type { FastifyRequest } from 'fastify';
import type { Instant } from '#libs/clock';
import { BrokerError } from '#libs/errors';

/** Who is calling, once the credential has been checked. Policies and logs use this name. */
export interface Caller {
  readonly name: string;
  /** When the credential expires; absent: valid until it is withdrawn. */
  readonly validUntil?: Instant;
  /**
   * Thumbprint (`x5t#S256`) of the certificate that the credential is bound to; absent: anyone holding the credential
   * can use it.
   */
  readonly certificate?: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the edge for every route that is not public. */
    caller?: Caller;
  }
}

/** @throws BrokerError `unauthenticated` for a request to a public route */
export function callerOf({ caller }: FastifyRequest): Caller {
  if (caller === undefined) throw new BrokerError('unauthenticated', { detail: 'the request has no caller' });
  return caller;
}

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
