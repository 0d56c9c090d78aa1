import type { Session } from '#libs/session';

/** The entity tag of a session: its generation, strong (RFC 9110 section 8.8.3). */
export function etagOf(generation: number): string {
  return `"${generation}"`;
}

/** What a session's answer says of itself: it may be kept, by this caller only, until it is renewed. */
export function sessionHeaders(session: Session, untilRenewalMs: number): { etag: string; 'cache-control': string } {
  const maxAge = Math.max(0, Math.floor(untilRenewalMs / 1_000));
  return { etag: etagOf(session.generation), 'cache-control': `private, max-age=${maxAge}` };
}

export const SESSION_CONTENT_TYPE = 'application/json; charset=utf-8';
