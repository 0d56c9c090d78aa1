import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { InvalidInput } from './errors.js';
import { systemCodeIn } from './failure-evidence.js';
import { demandKnownOptions, IS_IT_SET } from './options.js';
import { systemTime, type Time } from './time.js';
import { tokenFault, type TokenFunction } from './token-source.js';

export interface FileTokenOptions {
  /** How long a reading is used, in milliseconds; 10 s by default. After a 401 the file is read in any case. */
  readonly maxAgeMs?: number | undefined;
  /** For tests. */
  readonly time?: Time | undefined;
}

const DEFAULT_MAX_AGE_MS = 10_000;
const NOT_SHOWN = 'its path is not shown, as it may be the token itself: write a path as ./name';
const MIXED = [/[a-z]/, /[A-Z]/, /\d/];

type Reading = { readonly token: string; readonly readAtMs: number };

/**
 * The token in a file that something else rotates, such as a projected service account token in Kubernetes. The file is
 * read again when the last reading is older than `maxAgeMs`, and after the broker has refused the token. While the file
 * cannot be read, for example in the middle of a rotation, the last token is used.
 * @throws InvalidInput `option_invalid`; the function rejects with `token_unreadable` or `token_invalid`
 */
export function fileToken(path: string, options: FileTokenOptions = {}): TokenFunction {
  demandKnownOptions(options, ['maxAgeMs'], ['time']);
  if (path === undefined || path === null || path === '') throw noPath(`is missing: ${IS_IT_SET}`);
  if (typeof path !== 'string') throw noPath('must be a text');
  const { maxAgeMs = DEFAULT_MAX_AGE_MS, time = systemTime } = options;
  let last: Reading | undefined;
  let reading: Promise<Reading> | undefined;
  const readAgain = async (): Promise<Reading> => {
    try {
      const token = await tokenIn(path);
      last = { token, readAtMs: time.monotonicMs() };
      return last;
    } catch (error) {
      if (last !== undefined) return last;
      throw error;
    } finally {
      reading = undefined;
    }
  };
  return async ({ refresh }) => {
    const isYoung = last !== undefined && time.monotonicMs() - last.readAtMs < maxAgeMs;
    if (last !== undefined && isYoung && !refresh) return last.token;
    reading ??= readAgain();
    return (await reading).token;
  };
}

const noPath = (why: string): InvalidInput => new InvalidInput('option_invalid', `the path of the token file ${why}`);

async function tokenIn(path: string): Promise<string> {
  const token = (await textIn(path)).trim();
  const fault = tokenFault(token);
  if (fault === undefined) return token;
  throw faultOf(path, { code: 'token_invalid', says: `holds no token: ${fault}` });
}

async function textIn(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw faultOf(path, { code: 'token_unreadable', says: `cannot be read: ${systemCodeIn(error) ?? 'unknown'}` });
  }
}

function faultOf(path: string, { code, says }: { readonly code: string; readonly says: string }): InvalidInput {
  const shown = isCertainlyPath(path) ? ` ${resolve(path)} ${says}` : ` ${says}; ${NOT_SHOWN}`;
  return new InvalidInput(code, `The token file${shown}`);
}

/**
 * Not the token itself, pasted in place of its path: base64 has letters of both cases and digits in long runs, and a
 * token is one line of few characters.
 */
function isCertainlyPath(given: string): boolean {
  const parts = given.split(/[\\/]/);
  const isPlain = (part: string): boolean =>
    /^[\w .@~+:-]{0,40}$/.test(part) && (part.length <= 12 || !MIXED.every((kind) => kind.test(part)));
  return parts.length > 1 && parts.every(isPlain);
}
