import type { FastifyRequest } from 'fastify';

/** Who calls, once the credential has been checked. The name is what policies and logs know. */
export interface Caller {
  readonly name: string;
}

const callers = new WeakMap<FastifyRequest, Caller>();

export function setCaller(request: FastifyRequest, caller: Caller): void {
  callers.set(request, caller);
}

/** @returns undefined for a request to a public route */
export function callerOf(request: FastifyRequest): Caller | undefined {
  return callers.get(request);
}
