import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';

/** So many files are looked at at a time. */
const BATCH = 64;

/**
 * What can be told of files without reading them, in one text that differs when any of them does: replaced, written
 * to, made readable, gone. Links are followed, so that Kubernetes' exchange of a volume's `..data` link shows at each
 * file below it.
 */
export async function stampOf(files: readonly string[]): Promise<string> {
  const stamp = createHash('sha256');
  for (let start = 0; start < files.length; start += BATCH) {
    for (const line of await Promise.all(files.slice(start, start + BATCH).map(lineOf))) stamp.update(line);
  }
  return stamp.digest('hex');
}

async function lineOf(file: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return `${file}\0${dev}\0${ino}\0${size}\0${mtimeNs}\0${ctimeNs}\n`;
  } catch (error) {
    // A file that is not there, or not to be had, is a state like any other: reading it says what is wrong with it.
    if (typeof error === 'object' && error !== null && 'code' in error) return `${file}\0${String(error.code)}\n`;
    throw error;
  }
}
