import type { Session } from '#libs/session';
import { sessionJson } from './session-document.js';

/** `unchanged`: the caller already holds it. */
export interface FoundSession {
  readonly kind: 'session' | 'unchanged';
  readonly session: Session;
  /** The wait that was asked for and granted, in seconds. */
  readonly waitedFor?: number;
}

/** Most proxies take any 2xx, of which 204 says that there is no body. Envoy takes 200 alone. */
export type ProxyStatus = 200 | 204;

export interface SessionAnswer {
  readonly status: ProxyStatus | 304;
  readonly headers: Readonly<Record<string, string | number>>;
  /** Absent when the caller holds it, and where the headers are the answer. */
  readonly body?: string;
}

/** As later requests to the gateway have it; its create call has another form. */
const GATEWAY_API_VERSION = 'V1';

export const SESSION_CONTENT_TYPE = 'application/json; charset=utf-8';

/** The entity tag of a session: its generation, strong (RFC 9110 section 8.8.3). */
export function etagOf(generation: number): string {
  return `"${generation}"`;
}

/**
 * The one answer with a session, whichever way the request came. The session may be kept, by this caller only, until it
 * is renewed.
 */
export function sessionAnswer({ kind, session, waitedFor }: FoundSession, untilRenewalMs: number): SessionAnswer {
  const maxAge = Math.max(0, Math.floor(untilRenewalMs / 1_000));
  const headers: Record<string, string | number> = {
    etag: etagOf(session.generation),
    'cache-control': `private, max-age=${maxAge}`,
  };
  if (waitedFor !== undefined) headers['preference-applied'] = `wait=${waitedFor}`;
  if (kind === 'unchanged') return { status: 304, headers };
  const body = sessionJson(session);
  headers['content-type'] = SESSION_CONTENT_TYPE;
  headers['content-length'] = Buffer.byteLength(body);
  return { status: 200, headers, body };
}

/**
 * The session as the headers that the gateway wants, for a proxy that puts them on the request it passes on. All are of
 * one generation; a proxy that kept them would go on with a session that has ended.
 */
export function headersAnswer({ generation, deviceId, refreshToken }: Session, status: ProxyStatus): SessionAnswer {
  const headers = {
    'x-api_version': GATEWAY_API_VERSION,
    'x-device_id': deviceId,
    ...(refreshToken === undefined ? {} : { 'x-refresh_token': refreshToken }),
    etag: etagOf(generation),
    'cache-control': 'no-store',
    ...(status === 200 ? { 'content-length': 0 } : {}),
  };
  return { status, headers };
}
