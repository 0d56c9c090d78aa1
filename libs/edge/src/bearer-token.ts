import { hash } from 'node:crypto';

const BEARER = /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i;

/** The token of an Authorization header (RFC 6750 section 2.1); undefined if there is none. */
export function bearerTokenOf(authorization: string): string | undefined {
  return BEARER.exec(authorization)?.[1];
}

/** Tokens are identified by this digest: stealing our memory or our configuration yields none of them. */
export function digestOf(token: string): string {
  return hash('sha256', token, 'hex');
}
