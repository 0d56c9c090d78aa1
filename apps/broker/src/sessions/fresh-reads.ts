import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { edgeHeaders, REQUEST_ID_HEADER, requestIdOf } from '#libs/edge';
import type { SessionReplica } from '#libs/session';
import { isSampledIn, type Telemetry } from '#libs/telemetry';
import type { Authenticator } from '../auth/authenticator.service.js';
import type { PolicyTable } from '../auth/policy-table.js';
import { EXT_AUTHZ_PATH, MERCHANTS_PATH, SESSION_HEADERS_PATH, SESSION_PATH } from '../http/merchant-route.js';
import {
  etagOf,
  headersAnswer,
  matchesEtag,
  type ProxyStatus,
  type SessionAnswer,
  sessionAnswer,
} from './session-answer.js';
import type { SessionReads } from './session-reads.js';

interface FreshReadParts {
  readonly authenticator: Pick<Authenticator, 'known'>;
  readonly policies: Pick<PolicyTable, 'allows'>;
  readonly replica: Pick<SessionReplica, 'wishes' | 'held'>;
  readonly reads: Pick<SessionReads, 'served'>;
}

const [BEFORE_MERCHANT = '', SESSION = ''] = `/${MERCHANTS_PATH}/${SESSION_PATH}`.split(':merchant');
const [, SESSION_HEADERS = ''] = SESSION_HEADERS_PATH.split(':merchant');
const [, EXT_AUTHZ = ''] = EXT_AUTHZ_PATH.split(':merchant');

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers a request, or returns false, with nothing written, to pass it on. */
type EarlyAnswer = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * What can be answered before the framework is; everything else goes through it. These reads are only counted: timing
 * each one would add a tenth to its cost, only to show that it took next to no time. A caller that records its trace is
 * served by the framework.
 */
export function answerReadsFirst(server: Server, parts: FreshReadParts, telemetry: Telemetry | undefined): void {
  const early = freshReads(parts);
  const isTraced = ({ headers }: IncomingMessage): boolean =>
    telemetry?.traces !== undefined && isSampledIn(headers['traceparent']);
  const framework = server.listeners('request').at(-1) as Handler;
  server.off('request', framework).on('request', (request, response) => {
    turnIntoRead(request, response);
    if (isTraced(request) || !early(request, response)) framework(request, response);
  });
}

interface PlainRead {
  readonly merchant: string;
  /** For a proxy, which wants only the headers, with this status; absent for a consumer. */
  readonly proxyStatus?: ProxyStatus;
}

/**
 * Answers the requests made all day, plain reads of a fresh session by consumers and proxies, before the framework is
 * entered. It decides nothing itself: it asks the same authenticator and policies and gives the same answer. Whatever
 * is not clearly allowed and fresh goes through the framework, where its answer or refusal is made, counted and logged.
 */
export function freshReads({ authenticator, policies, replica, reads }: FreshReadParts): EarlyAnswer {
  return (request, response) => {
    const read = plainReadOf(request);
    if (read === undefined) return false;
    const { merchant, proxyStatus } = read;
    const caller = authenticator.known(request);
    // Also for a caller that is not known yet: finding out takes time, and is done elsewhere.
    if (caller === undefined || !policies.allows(caller, merchant, 'session:read')) return false;
    const served = replica.wishes.peek(merchant);
    if (served?.verdict.result !== 'fresh') return false;
    const { session } = served;
    const { generation } = session;
    reads.served({ caller: caller.name, merchant, generation }, 'fresh');
    const isUnchanged = matchesEtag(request.headers['if-none-match'], etagOf(generation));
    const answer =
      proxyStatus === undefined
        ? sessionAnswer({ kind: isUnchanged ? 'unchanged' : 'session', session }, replica.held.leftOf(session))
        : headersAnswer(session, proxyStatus);
    response.writeHead(answer.status, headerLines(answer, requestIdOf(request))).end(answer.body);
    return true;
  };
}

const lines = new WeakMap<SessionAnswer, readonly string[]>();

/**
 * Names and values alternating, the form that costs Node.js least. Everything except the request id is the same for
 * every reader that gets the same answer.
 */
function headerLines(answer: SessionAnswer, requestId: string): string[] {
  let known = lines.get(answer);
  if (known === undefined) {
    const { [REQUEST_ID_HEADER]: _own, ...ofAll } = edgeHeaders(requestId);
    known = Object.entries({ ...ofAll, ...answer.headers }).flatMap(([name, value]) => [name, String(value)]);
    lines.set(answer, known);
  }
  return [REQUEST_ID_HEADER, requestId, ...known];
}

/**
 * A plain read in either form. Something that is not a merchant id is not a configured merchant either: the policies
 * find that out.
 */
function plainReadOf({ method, url = '', headers }: IncomingMessage): PlainRead | undefined {
  if (method !== 'GET' || !url.startsWith(BEFORE_MERCHANT)) return undefined;
  const merchantBefore = (end: string): string => url.slice(BEFORE_MERCHANT.length, url.length - end.length);
  // A `Prefer` header from a proxy's client is not meant for the broker.
  if (url.endsWith(SESSION_HEADERS)) return { merchant: merchantBefore(SESSION_HEADERS), proxyStatus: 204 };
  if (url.endsWith(EXT_AUTHZ)) return { merchant: merchantBefore(EXT_AUTHZ), proxyStatus: 200 };
  if (headers['prefer'] !== undefined || !url.endsWith(SESSION)) return undefined;
  return { merchant: merchantBefore(SESSION) };
}

/**
 * Turns Envoy's question about a request that it holds into a GET: Envoy uses that request's method, and appends its
 * path to the configured one. Both come from another client and say nothing about the read; neither does a body, so the
 * connection is not kept waiting for its end.
 */
export const turnIntoRead: Handler = (request, response) => {
  const ownLength = lengthOfPath(request.url ?? '');
  if (ownLength === undefined) return;
  if (request.method === 'POST') request.method = 'GET';
  request.url = request.url?.slice(0, ownLength);
  if (hasBody(request)) response.shouldKeepAlive = false;
};

/** How much of the URL is the route's path and query; undefined when it is another route. */
function lengthOfPath(url: string): number | undefined {
  if (!url.startsWith(BEFORE_MERCHANT)) return undefined;
  const merchantEnd = url.indexOf('/', BEFORE_MERCHANT.length);
  if (merchantEnd < 0 || !url.startsWith(EXT_AUTHZ, merchantEnd)) return undefined;
  const end = merchantEnd + EXT_AUTHZ.length;
  if (url[end] === '/') return end;
  return end === url.length || url[end] === '?' ? url.length : undefined;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}
