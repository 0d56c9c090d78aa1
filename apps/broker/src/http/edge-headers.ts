import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Session } from '#libs/session';
import { etagOf } from './conditional.js';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** The caller's own request id when it is a harmless one, else a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

/** Headers of caution that every answer of the API carries. */
export const CAUTION = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

/** What a session's answer says of itself: it may be kept, by this caller only, until it is renewed. */
export function sessionHeaders(session: Session, untilRenewalMs: number): { etag: string; 'cache-control': string } {
  const maxAge = Math.max(0, Math.floor(untilRenewalMs / 1_000));
  return { etag: etagOf(session.generation), 'cache-control': `private, max-age=${maxAge}` };
}

export const SESSION_CONTENT_TYPE = 'application/json; charset=utf-8';
