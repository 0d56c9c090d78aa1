import type { IncomingHttpHeaders } from 'node:http';
import type { Session } from '#libs/client';
import { hopByHopOf } from './hop-by-hop.js';

/** Headers that are meant for us, would reveal our network to the bank, or are set anew by every sender. */
const OURS: ReadonlySet<string> = new Set([
  'host',
  'authorization',
  'proxy-authorization',
  'cookie',
  'expect',
  'accept-encoding',
  'content-length',
  'forwarded',
  'via',
  'x-real-ip',
  'x-api_version',
  'x-device_id',
  'x-refresh_token',
]);

type Headers = Record<string, string | string[]>;

/**
 * The headers of a request to the gateway: the client's, except those that end here, with the headers of one session
 * replacing whatever the client sent under their names (interface description, "Later requests").
 */
export function requestHeaders(given: IncomingHttpHeaders, { deviceId, refreshToken }: Session): Headers {
  const dropped = hopByHopOf(given);
  const headers: Headers = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || OURS.has(name) || dropped.has(name) || name.startsWith('x-forwarded-')) continue;
    headers[name] = value;
  }
  // Without it, any coding would be acceptable (RFC 9110 section 12.5.3), and none is read here.
  headers['accept-encoding'] = 'identity';
  headers['x-api_version'] = 'V1';
  headers['x-device_id'] = deviceId;
  if (refreshToken !== undefined) headers['x-refresh_token'] = refreshToken;
  return headers;
}
