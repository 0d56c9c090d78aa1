import { InvalidInput } from './errors.js';

/** What a token function is given. */
export interface TokenRequest {
  /** The broker has just refused the last token: get a fresh one before answering. */
  readonly refresh: boolean;
  /** Aborts when nobody waits for the token any more. */
  readonly signal: AbortSignal;
}

/** Returns the bearer token for the next request. Called before every request: cache what is costly to get. */
export type TokenFunction = (request: TokenRequest) => string | Promise<string>;

/** A fixed token, or a function; `fileToken` makes one for a file. */
export type TokenSource = string | TokenFunction;

/** `b64token` of RFC 6750 section 2.1. Anything else would break the header, and fetch errors quote what breaks it. */
const BEARER_TOKEN = /^[A-Za-z0-9._~+/-]{1,16384}=*$/;

/** Why it is not a bearer token, in words that do not quote it. */
export function tokenFault(token: unknown): string | undefined {
  if (typeof token !== 'string' || token === '') return 'it is empty, or no text';
  if (/^bearer\s/i.test(token)) return 'it begins with "Bearer ": give the token alone';
  if (/\s/.test(token)) return 'it has white space or a line break in it: trim what comes from a file';
  return BEARER_TOKEN.test(token) ? undefined : 'it has characters that no token has, or too many';
}

/** @throws InvalidInput which does not quote it */
export function demandToken(token: unknown): asserts token is string {
  const fault = tokenFault(token);
  if (fault === undefined) return;
  throw new InvalidInput('token_invalid', `That is no bearer token (RFC 6750, section 2.1): ${fault}`);
}
