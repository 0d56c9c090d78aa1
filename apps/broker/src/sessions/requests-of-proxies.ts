import type { IncomingMessage } from 'node:http';
import type { EarlyAnswer } from '../http/http-server.js';
import { EXT_AUTHZ_PATH, MERCHANTS_PATH } from '../http/routes.js';

const [BEFORE_MERCHANT = '', AFTER_MERCHANT = ''] = `/${MERCHANTS_PATH}/${EXT_AUTHZ_PATH}`.split(':merchant');

/**
 * Makes a GET of what Envoy asks on behalf of a request that it holds: it uses the method of that request, and adds its
 * path to the one that is configured. Both belong to somebody else, and say nothing about the read; neither does a body,
 * so no connection is kept to wait for its end.
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

/** How much of the URL is the path of the route, and its query; undefined when it is another route. */
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
