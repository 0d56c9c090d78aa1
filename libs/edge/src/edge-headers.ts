import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export const REQUEST_ID_HEADER = 'x-request-id';
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** The caller's own request id if it is harmless, otherwise a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers[REQUEST_ID_HEADER];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

/** A year, including names below ours (RFC 6797 section 6.1): for every answer by TLS; without it, no browser believes it. */
export const STRICT_TRANSPORT = 'max-age=31536000; includeSubDomains';

/** A browser must do nothing with an answer: not guess its type, not show it, and not give it to another page. */
const HEADERS_OF_CAUTION = {
  'x-content-type-options': 'nosniff',
  // The last three have no other source to fall back on.
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** What every answer carries, whatever produced it: the id of its request, and protective headers. */
export function edgeHeaders(requestId: string): Readonly<Record<string, string>> {
  return { [REQUEST_ID_HEADER]: requestId, ...HEADERS_OF_CAUTION };
}
