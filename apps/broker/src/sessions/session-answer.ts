import type { Session, SessionLeft } from '#libs/session';
import { madeOnce, sessionJson } from './session-documents.js';

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

/** Only this caller may keep the session, until it is renewed. */
function headersToKeep({ generation }: Session, { renewInMs }: SessionLeft): SessionAnswer['headers'] {
  return { etag: etagOf(generation), 'cache-control': `private, max-age=${Math.floor(renewInMs / 1_000)}` };
}

const wholeAnswer = madeOnce((session, left): SessionAnswer => {
  const body = sessionJson(session, left);
  const ofBody = { 'content-type': SESSION_CONTENT_TYPE, 'content-length': Buffer.byteLength(body) };
  return { status: 200, headers: { ...headersToKeep(session, left), ...ofBody }, body };
});

const unchangedAnswer = madeOnce((session, left): SessionAnswer => ({
  status: 304,
  headers: headersToKeep(session, left),
}));

/** The single form of an answer with a session, however the request arrived. */
export function sessionAnswer({ kind, session, waitedFor }: FoundSession, left: SessionLeft): SessionAnswer {
  const answer = kind === 'unchanged' ? unchangedAnswer(session, left) : wholeAnswer(session, left);
  if (waitedFor === undefined) return answer;
  return { ...answer, headers: { ...answer.headers, 'preference-applied': `wait=${waitedFor}` } };
}

const madeForProxies = new WeakMap<Session, Readonly<Record<ProxyStatus, SessionAnswer>>>();

/**
 * The session as the headers that the gateway expects, for a proxy that puts them on the request it forwards. All are
 * from one generation; a proxy that cached them would go on using a session that has ended. Made once for each session.
 */
export function headersAnswer(session: Session, status: ProxyStatus): SessionAnswer {
  let answers = madeForProxies.get(session);
  if (answers === undefined) {
    const { generation, deviceId, refreshToken } = session;
    const headers = {
      'x-api_version': GATEWAY_API_VERSION,
      'x-device_id': deviceId,
      ...(refreshToken === undefined ? {} : { 'x-refresh_token': refreshToken }),
      etag: etagOf(generation),
      'cache-control': 'no-store',
    };
    answers = { 204: { status: 204, headers }, 200: { status: 200, headers: { ...headers, 'content-length': 0 } } };
    madeForProxies.set(session, answers);
  }
  return answers[status];
}
