import type { Session, SessionLeft } from '#libs/session';
import { sessionJson } from './session-documents.js';

/** Whether `If-None-Match` names the tag, by weak comparison (RFC 9110 section 13.1.2). */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag) return true;
  return ifNoneMatch.split(',').some((candidate) => {
    const tag = candidate.trim();
    return tag === '*' || tag === etag || tag === `W/${etag}`;
  });
}

/** `unchanged`: the caller already holds it. */
export interface FoundSession {
  readonly kind: 'session' | 'unchanged';
  readonly session: Session;
  /** The wait that was requested and granted, in seconds. */
  readonly waitedFor?: number;
}

/** Most proxies accept any 2xx, of which 204 says that there is no body. Envoy accepts only 200. */
export type ProxyStatus = 200 | 204;

export interface SessionAnswer {
  readonly status: ProxyStatus | 304;
  readonly headers: Readonly<Record<string, string | number>>;
  /** Absent when the caller already holds it, and when the headers are the answer. */
  readonly body?: string;
}

/** The value in later requests to the gateway; its create call uses another form. */
const GATEWAY_API_VERSION = 'V1';

export const SESSION_CONTENT_TYPE = 'application/json; charset=utf-8';

/** The entity tag of a session: its generation, strong (RFC 9110 section 8.8.3). */
export function etagOf(generation: number): string {
  return `"${generation}"`;
}

interface MadeAnswers {
  readonly body: string;
  readonly answers: Partial<Record<FoundSession['kind'], SessionAnswer>>;
}

const made = new WeakMap<Session, MadeAnswers>();

/**
 * The single form of an answer with a session, however the request arrived. Only this caller may keep the session,
 * until it is renewed. Made once for each form of its body: sessions are read thousands of times.
 */
export function sessionAnswer(found: FoundSession, left: SessionLeft): SessionAnswer {
  const { kind, session, waitedFor } = found;
  const body = sessionJson(session, left);
  const maxAge = Math.floor(left.renewInMs / 1_000);
  if (waitedFor !== undefined) return answerOf(found, maxAge, body);
  let last = made.get(session);
  if (last?.body !== body) {
    last = { body, answers: {} };
    made.set(session, last);
  }
  return (last.answers[kind] ??= answerOf(found, maxAge, body));
}

function answerOf({ kind, session, waitedFor }: FoundSession, maxAge: number, body: string): SessionAnswer {
  const headers: Record<string, string | number> = {
    etag: etagOf(session.generation),
    'cache-control': `private, max-age=${maxAge}`,
  };
  if (waitedFor !== undefined) headers['preference-applied'] = `wait=${waitedFor}`;
  if (kind === 'unchanged') return { status: 304, headers };
  headers['content-type'] = SESSION_CONTENT_TYPE;
  headers['content-length'] = Buffer.byteLength(body);
  return { status: 200, headers, body };
}

const madeForProxies = new WeakMap<Session, Partial<Record<ProxyStatus, SessionAnswer>>>();

/**
 * The session as the headers that the gateway expects, for a proxy that puts them on the request it forwards. All are
 * from one generation; a proxy that cached them would go on using a session that has ended. Made once for each session.
 */
export function headersAnswer(session: Session, status: ProxyStatus): SessionAnswer {
  let answers = madeForProxies.get(session);
  if (answers === undefined) {
    answers = {};
    madeForProxies.set(session, answers);
  }
  return (answers[status] ??= proxyAnswerOf(session, status));
}

function proxyAnswerOf({ generation, deviceId, refreshToken }: Session, status: ProxyStatus): SessionAnswer {
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
