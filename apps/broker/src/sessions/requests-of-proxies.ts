import type { IncomingMessage } from 'node:http';
import type { EarlyAnswer } from '../http/http-server.js';
import { EXT_AUTHZ_PATH, MERCHANTS_PATH } from '../http/routes.js';

const [BEFORE_MERCHANT = '', AFTER_MERCHANT = ''] = `/${MERCHANTS_PATH}/${EXT_AUTHZ_PATH}`.split(':merchant');

/**
 * Turns Envoy's question about a request that it holds into a GET: Envoy uses that request's method, and appends its
 * path to the configured one. Both come from another client and say nothing about the read; neither does a body, so the
 * connection is not kept waiting for its end.
 */
export function asReads(answer: EarlyAnswer): EarlyAnswer {
  return (request, response) => {
    const ownLength = lengthOfPath(request.url ?? '');
    if (ownLength !== undefined) {
      if (request.method === 'POST') request.method = 'GET';
      request.url = request.url?.slice(0, ownLength);
      if (hasBody(request)) response.shouldKeepAlive = false;
    }
    return answer(request, response);
  };
}

/** How much of the URL is the route's path and query; undefined when it is another route. */
function lengthOfPath(url: string): number | undefined {
  if (!url.startsWith(BEFORE_MERCHANT)) return undefined;
  const merchantEnd = url.indexOf('/', BEFORE_MERCHANT.length);
  if (merchantEnd < 0 || !url.startsWith(AFTER_MERCHANT, merchantEnd)) return undefined;
  const end = merchantEnd + AFTER_MERCHANT.length;
  if (url[end] === '/') return end;
  return end === url.length || url[end] === '?' ? url.length : undefined;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}
