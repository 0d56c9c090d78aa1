import type { IncomingMessage, ServerResponse } from 'node:http';
import { parsedJson } from '../json.js';

const ROUTES = {
  'GET /session': 'read',
  'GET /session/events': 'events',
  'POST /session/rejections': 'rejections',
  'POST /session/handovers': 'handovers',
  'POST /payloads/decrypt': 'decrypt',
  'POST /notifications/open': 'notifications',
} as const;

/** What a request is about. `other` is a path that the broker does not have. */
export type FakeRoute = (typeof ROUTES)[keyof typeof ROUTES] | 'other';

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
const NO_STORE = { 'cache-control': 'no-store' };

export const answered = (document: object): FakeAnswer => ({ status: 200, headers: NO_STORE, document });
export const NOTHING: FakeAnswer = { status: 204, headers: NO_STORE };

export function problem(status: number, code: string, retryAfterS?: number): FakeAnswer {
  const title = TITLES[code] ?? 'Asked for by a test';
  const retry: Record<string, string> = retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) };
  const document = { type: `urn:session-broker:problem:${code}`, title, status, code };
  return { status, headers: { ...NO_STORE, ...retry }, document };
}

/** What a request asks for that is not there, or has not the form that the broker wants. */
export function invalid(detail: string): FakeAnswer {
  const { document, ...answer } = problem(400, 'invalid_request');
  return { ...answer, document: { ...document, detail } };
}

/** There is no session to serve. */
export const unavailable = (): FakeAnswer => problem(503, 'session_unavailable', 1);

/** @returns also the merchant, if the path has one */
export async function requestOf(message: IncomingMessage): Promise<FakeRequest & { merchant: string | undefined }> {
  const { method = '', url: path = '', headers } = message;
  const [, merchant, rest = ''] = /^\/v1\/merchants\/([^/]+)(\/[^?]*)/.exec(path) ?? [];
  const route = (ROUTES as Readonly<Record<string, FakeRoute>>)[`${method} ${rest}`] ?? 'other';
  const body = method === 'POST' ? parsedJson((await message.setEncoding('utf8').toArray()).join('')) : undefined;
  return { route, method, path, headers, body, merchant: merchant && decodeURIComponent(merchant) };
}

export function write(response: ServerResponse, { status, headers = {}, document }: FakeAnswer, id: string): void {
  const isProblem = status >= 400;
  const type = { 'content-type': `application/${isProblem ? 'problem+' : ''}json; charset=utf-8` };
  response.writeHead(status, { 'x-request-id': id, ...(document === undefined ? {} : type), ...headers });
  const body = isProblem ? { ...document, requestId: id } : document;
  response.end(body === undefined ? undefined : JSON.stringify(body));
}
