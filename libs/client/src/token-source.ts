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
const BEARER_TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
const MAX_TOKEN_LENGTH = 16_384;

/** Why it is not a bearer token, in words that do not quote it. */
export function tokenFault(token: string): string | undefined {
  if (token === '') return 'it is empty';
  if (/^bearer\s/i.test(token)) return 'it begins with "Bearer ": give the token alone';
  if (/\s/.test(token)) return 'it has white space or a line break in it: trim what comes from a file';
  if (token.length > MAX_TOKEN_LENGTH) return `it is longer than ${MAX_TOKEN_LENGTH} characters`;
  return BEARER_TOKEN.test(token) ? undefined : 'it has characters that no token has';
}

/** @throws InvalidInput which does not quote it */
export function demandToken(token: unknown): string {
  if (typeof token !== 'string') throw noToken(`it is ${token === null ? 'null' : typeof token}, and no text`);
  const fault = tokenFault(token);
  if (fault !== undefined) throw noToken(fault);
  return token;
}

function noToken(why: string): InvalidInput {
  return new InvalidInput('token_invalid', `That is no bearer token (RFC 6750, section 2.1): ${why}`);
}

/** The value of `Authorization`, or undefined without a source: mutual TLS then identifies the caller. */
export async function authorizationFrom(
  source: TokenSource | undefined,
  request: TokenRequest,
): Promise<string | undefined> {
  if (source === undefined) return undefined;
  const token = typeof source === 'string' ? source : await source(request);
  return `Bearer ${demandToken(token)}`;
}
