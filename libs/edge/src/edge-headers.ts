import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export const REQUEST_ID_HEADER = 'x-request-id';
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** The caller's own request id if it is harmless, otherwise a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers[REQUEST_ID_HEADER];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

/** What every answer of the API carries: the id of its request, and protective headers. */
export function edgeHeaders(requestId: string): Readonly<Record<string, string>> {
  return {
    [REQUEST_ID_HEADER]: requestId,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  };
}
