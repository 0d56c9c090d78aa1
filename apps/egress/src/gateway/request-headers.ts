import type { IncomingHttpHeaders } from 'node:http';
import type { Session } from '#libs/client';
import { hopByHopOf } from './hop-by-hop.js';

/** What a payment may need of a client's headers; nobody knows what a server of the bank makes of any other. */
const PASSED = ['accept', 'accept-language', 'user-agent', 'x-request_id', 'x-request-id', 'traceparent', 'tracestate'];

/** @param also further ones, by the configuration; none is of a session */
export const passedHeaders = (also: readonly string[]): readonly string[] => [...PASSED, ...also];

type Headers = Record<string, string | string[]>;

/**
 * The headers of a request to the gateway but those of its body: few of the client's, and those of one session
 * (interface description, "Later requests").
 * @param passed names of the client's headers that go on
 */
export function requestHeaders(
  given: IncomingHttpHeaders,
  { deviceId, refreshToken }: Session,
  passed: readonly string[],
): Headers {
  const dropped = hopByHopOf(given);
  const headers: Headers = {};
  for (const name of passed) {
    const value = given[name];
    if (value !== undefined && !dropped.has(name)) headers[name] = value;
  }
  // Without it, any coding would be acceptable (RFC 9110 section 12.5.3), and none is read here.
  headers['accept-encoding'] = 'identity';
  headers['x-api_version'] = 'V1';
  headers['x-device_id'] = deviceId;
  if (refreshToken !== undefined) headers['x-refresh_token'] = refreshToken;
  return headers;
}
