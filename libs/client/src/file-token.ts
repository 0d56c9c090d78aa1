import { readFile } from 'node:fs/promises';
import { InvalidInput } from './errors.js';
import { systemCodeOf } from './platform-errors.js';
import { demandKnownOptions, IS_IT_SET } from './option-names.js';
import { systemTime, type Time } from './time.js';
import { shownTokenPath } from './token-path.js';
import { tokenFault, type TokenFunction } from './token-source.js';

/** Options of `fileToken`. */
export interface FileTokenOptions {
  /** How long a reading is used, in milliseconds; 10 s by default. After a 401 the file is read in any case. */
  readonly maxAgeMs?: number | undefined;
  /** For tests. */
  readonly time?: Time | undefined;
}

const DEFAULT_MAX_AGE_MS = 10_000;
const NOT_SHOWN = 'its path is not shown, as it may be the token itself: write a path as ./name';
/** The system's error codes in plain words. */
const CODES: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'something on the way is no folder',
  EACCES: 'this process may not read it',
  EPERM: 'this process may not read it',
  EISDIR: 'it is a folder',
};

interface Reading {
  readonly token: string;
  readonly readAtMs: number;
}

/**
 * The token in a file that something else rotates, such as a projected service account token in Kubernetes. The file is
 * read again when the last reading is older than `maxAgeMs`, and after the broker has refused the token. While the file
 * cannot be read, for example in the middle of a rotation, the last token is used.
 * @throws InvalidInput `option_invalid`; the function rejects with `token_unreadable` or `token_invalid`
 */
export function fileToken(path: string, options: FileTokenOptions = {}): TokenFunction {
  demandKnownOptions(options, ['maxAgeMs'], ['time']);
  demandPath(path);
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

function demandPath(path: unknown): void {
  if (path === undefined || path === null || path === '') {
    throw new InvalidInput('option_invalid', `the path of the token file is missing: ${IS_IT_SET}`);
  }
  if (typeof path !== 'string') throw new InvalidInput('option_invalid', 'the path of the token file must be a text');
}

async function tokenIn(path: string): Promise<string> {
  const token = (await textIn(path)).trim();
  const fault = tokenFault(token);
  if (fault === undefined) return token;
  throw await faultOf(path, { code: 'token_invalid', says: `holds no token: ${fault}` });
}

async function textIn(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = systemCodeOf(error) ?? 'unknown';
    const meaning = CODES[code] === undefined ? '' : `: ${CODES[code]}`;
    throw await faultOf(path, { code: 'token_unreadable', says: `cannot be read${meaning} (${code})` });
  }
}

async function faultOf(path: string, fault: { readonly code: string; readonly says: string }): Promise<InvalidInput> {
  const shown = await shownTokenPath(path);
  const message =
    shown === undefined ? `The token file ${fault.says}; ${NOT_SHOWN}` : `The token file ${shown} ${fault.says}`;
  return new InvalidInput(fault.code, message);
}
