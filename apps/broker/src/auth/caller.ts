import type { FastifyRequest } from 'fastify';
import type { Instant } from '#libs/clock';

/** Who calls, once the credential has been checked. The name is what policies and logs know. */
export interface Caller {
  readonly name: string;
  /** When the credential ends; absent: when it is withdrawn. */
  readonly validUntil?: Instant;
  /** Thumbprint (`x5t#S256`) of the certificate without which the credential is worth nothing; absent: whoever has it. */
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
