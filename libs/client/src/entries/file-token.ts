import { readFile } from 'node:fs/promises';
import { InvalidInput } from '../errors.js';
import { systemCodeIn } from '../fetch.js';
import { IS_IT_SET, invalid } from '../options.js';
import { systemTime, type Time } from '../time.js';
import { tokenFault, type TokenFunction } from '../token-source.js';

export interface FileTokenOptions {
  /** How long a reading is used, in milliseconds; 10 s by default. After a 401 the file is read in any case. */
  readonly maxAgeMs?: number | undefined;
  /** For tests. */
  readonly time?: Time | undefined;
}

/**
 * The token in a file that something else rotates, such as a projected service account token in Kubernetes. The file is
 * read again when the last reading is older than `maxAgeMs`, and after the broker has refused the token. While the file
 * cannot be read, for example in the middle of a rotation, the last token is used.
 * @throws InvalidInput `option_invalid`; the function rejects with `token_unreadable` or `token_invalid`
 */
export function fileToken(
  path: string,
  { maxAgeMs = 10_000, time = systemTime }: FileTokenOptions = {},
): TokenFunction {
  if (typeof path !== 'string' || path === '') throw invalid(`the path of the token file is missing: ${IS_IT_SET}`);
  let last: { readonly token: string; readonly readAtMs: number } | undefined;
  let reading: Promise<string> | undefined;
  const readAgain = async (): Promise<string> => {
    try {
      const token = await tokenIn(path);
      last = { token, readAtMs: time.monotonicMs() };
      return token;
    } catch (error) {
      if (last !== undefined) return last.token;
      throw error;
    } finally {
      reading = undefined;
    }
  };
  return ({ refresh }) => {
    if (!refresh && last !== undefined && time.monotonicMs() - last.readAtMs < maxAgeMs) return last.token;
    return (reading ??= readAgain());
  };
}

/** The path is in no message: by mistake it may be the token itself. */
async function tokenIn(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    const why = systemCodeIn(error) ?? 'unknown';
    throw new InvalidInput('token_unreadable', `The file of fileToken cannot be read: ${why}; is its path right?`);
  });
  const fault = tokenFault(text.trim());
  if (fault === undefined) return text.trim();
  throw new InvalidInput('token_invalid', `The file of fileToken holds no token: ${fault}`);
}
