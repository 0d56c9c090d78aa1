import { InvalidInput } from './errors.js';

export interface TokenRequest {
  /** The broker has just refused the last one: look again before answering. */
  readonly refresh: boolean;
  /** Aborts when nobody waits for the token any more. */
  readonly signal: AbortSignal;
}

/** Gives the bearer token for the next request. It is asked before every request: keep what is costly to get. */
export type TokenFunction = (request: TokenRequest) => string | Promise<string>;

/** A token that stays, or a function; `fileToken` makes one for a file. */
export type TokenSource = string | TokenFunction;

/** `b64token` of RFC 6750 section 2.1. Anything else would break the header, and a fetch quotes what breaks it. */
const BEARER_TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
const MAX_TOKEN_LENGTH = 16_384;

/** @throws InvalidInput which does not quote it */
export function demandToken(token: unknown): string {
  if (typeof token === 'string' && token.length <= MAX_TOKEN_LENGTH && BEARER_TOKEN.test(token)) return token;
  throw new InvalidInput('token_invalid', 'The token source gave no bearer token (RFC 6750, section 2.1)');
}

/** The value of `Authorization`, or undefined without a source: mutual TLS then names the caller. */
export async function authorizationFrom(
  source: TokenSource | undefined,
  request: TokenRequest,
): Promise<string | undefined> {
  if (source === undefined) return undefined;
  const token = typeof source === 'string' ? source : await source(request);
  return `Bearer ${demandToken(token)}`;
}
