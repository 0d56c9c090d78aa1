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

interface TokenFault {
  readonly isPresent: (token: string) => boolean;
  readonly says: string;
}

// Only the first fault found is reported, so the most common ones come first.
const faults: readonly TokenFault[] = [
  { isPresent: (token) => token === '', says: 'it is empty' },
  {
    isPresent: (token) => /[\r\n]$/.test(token),
    says: 'the token ends with a line break: trim what comes from a file',
  },
  { isPresent: (token) => /^bearer\s/i.test(token), says: 'it begins with "Bearer ": give the token alone' },
  {
    isPresent: (token) => /[\r\n]/.test(token),
    says: 'it has a line break within: a token is one line, of a file with nothing else in it',
  },
  { isPresent: (token) => /\s/.test(token), says: 'it has white space in it' },
  { isPresent: (token) => token.length > MAX_TOKEN_LENGTH, says: `it is longer than ${MAX_TOKEN_LENGTH} characters` },
  { isPresent: (token) => !BEARER_TOKEN.test(token), says: 'it has characters that no token has' },
];

/** Why it is not a bearer token, in words that do not quote it. */
export function tokenFault(token: string): string | undefined {
  return faults.find(({ isPresent }) => isPresent(token))?.says;
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
