import type { IncomingMessage, ServerResponse } from 'node:http';

/** What a request is about. `other` is a path that the broker does not have. */
export type FakeRoute =
  'read' | 'events' | 'rejections' | 'handovers' | 'encrypt' | 'decrypt' | 'notifications' | 'clientKey' | 'other';

/** A request that the fake broker received. */
export interface FakeRequest {
  readonly route: FakeRoute;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Parsed JSON; undefined if there is none. */
  readonly body: unknown;
}

export interface FakeAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly document?: object;
}

const ROUTES: Readonly<Record<string, FakeRoute>> = {
  'GET /session': 'read',
  'GET /session/events': 'events',
  'POST /session/rejections': 'rejections',
  'POST /session/handovers': 'handovers',
  'POST /payloads/encrypt': 'encrypt',
  'POST /payloads/decrypt': 'decrypt',
  'POST /notifications/open': 'notifications',
  'GET /client-key': 'clientKey',
};

export const FAKE_ROUTES: readonly FakeRoute[] = [...Object.values(ROUTES), 'other'];

/** The titles that the real broker uses. */
const TITLES: Readonly<Record<string, string>> = {
  invalid_request: 'The request is not valid',
  unauthenticated: 'The credential is missing, unknown or not valid',
  forbidden: 'The caller may not do this',
  route_not_found: 'There is no such resource',
  jwe_malformed: 'The JWE is malformed',
  jwe_not_opened: 'The JWE could not be opened',
  notification_invalid: 'The notification has none of the forms that the gateway sends',
  session_unavailable: 'There is no session to serve at the moment',
};
export const NO_STORE = { 'cache-control': 'no-store' };
const RETRY_AFTER_S = '1';
const MAX_BODY_CHARACTERS = 1_000_000;

export function problem(status: number, code: string, more: object = {}): FakeAnswer {
  const title = TITLES[code] ?? 'Asked for by a test';
  const type = `urn:session-broker:problem:${code}`;
  return { status, headers: NO_STORE, document: { type, title, status, code, ...more } };
}

/** There is no session to serve. */
export function unavailable(): FakeAnswer {
  const answer = problem(503, 'session_unavailable');
  return { ...answer, headers: { ...answer.headers, 'retry-after': RETRY_AFTER_S } };
}

/** @returns also the merchant, if the path has one */
export function routeOf({ method = '', url = '' }: IncomingMessage): {
  route: FakeRoute;
  merchant: string | undefined;
} {
  const { pathname } = new URL(url, 'http://fake');
  const [, merchant, rest = ''] = /^\/v1\/merchants\/([^/]+)(\/.*)$/.exec(pathname) ?? [];
  const route = ROUTES[`${method} ${rest}`] ?? 'other';
  return { route, merchant: merchant === undefined ? undefined : decodeURIComponent(merchant) };
}

/** @returns undefined for a body that is too long or not JSON */
export async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > MAX_BODY_CHARACTERS) return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    // Many tests send something that is not JSON on purpose.
    return undefined;
  }
}

export function write(response: ServerResponse, { status, headers = {}, document }: FakeAnswer, id: string): void {
  const type = status >= 400 ? 'application/problem+json; charset=utf-8' : 'application/json; charset=utf-8';
  const body = status >= 400 && document !== undefined ? { ...document, requestId: id } : document;
  response.writeHead(status, {
    'x-request-id': id,
    ...(body === undefined ? {} : { 'content-type': type }),
    ...headers,
  });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}
