import { readFile } from 'node:fs/promises';
import { InvalidInput, systemCodeOf } from './errors.js';
import { demandKnownOptions } from './option-names.js';
import { systemTime, type Time } from './time.js';
import { demandToken, type TokenFunction } from './token-source.js';

export interface FileTokenOptions {
  /** How old a reading may be, in milliseconds; 10 s by default. After a 401 the file is read in any case. */
  readonly maxAgeMs?: number | undefined;
  /** For tests. */
  readonly time?: Time | undefined;
}

const DEFAULT_MAX_AGE_MS = 10_000;

interface Reading {
  readonly token: string;
  readonly readAtMs: number;
}

/**
 * The token in a file that is rotated from outside, such as a projected service account token of Kubernetes. It is read
 * again when the last reading is too old, and after the broker has refused it. While the file cannot be read, for
 * example in the middle of a rotation, the last token is used.
 * @throws InvalidInput `option_invalid`; the function rejects with `token_unreadable` or `token_invalid`
 */
export function fileToken(path: string, options: FileTokenOptions = {}): TokenFunction {
  demandKnownOptions(options, ['maxAgeMs', 'time']);
  if (typeof path !== 'string' || path === '') {
    throw new InvalidInput('option_invalid', 'the path of the token file is missing: is its variable set?');
  }
  const { maxAgeMs = DEFAULT_MAX_AGE_MS, time = systemTime } = options;
  let last: Reading | undefined;
  let reading: Promise<Reading> | undefined;
  const readAgain = async (): Promise<Reading> => {
    try {
      const token = demandToken((await readFile(path, 'utf8')).trim());
      last = { token, readAtMs: time.monotonicMs() };
      return last;
    } catch (error) {
      if (last !== undefined) return last;
      throw unreadable(error);
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

function unreadable(error: unknown): InvalidInput {
  if (error instanceof InvalidInput) return error;
  return new InvalidInput('token_unreadable', `The token file cannot be read: ${systemCodeOf(error) ?? 'unknown'}`);
}
