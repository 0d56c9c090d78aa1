import type { FastifyRequest } from 'fastify';
import type { Instant } from '#libs/clock';

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

export function setCaller(request: FastifyRequest, caller: Caller): void {
  request.caller = caller;
}

/** @returns undefined for a request to a public route */
export function callerOf(request: FastifyRequest): Caller | undefined {
  return request.caller;
}
