import { isUtf8 } from 'node:buffer';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

type FileContent =
  | { readonly kind: 'text'; readonly text: string; readonly stats: Pick<Stats, 'mode' | 'uid'> }
  | { readonly kind: 'fault'; readonly problem: string; readonly isMissing?: true };

/**
 * Reads a regular file of UTF-8 text. Devices and pipes are refused and the size is bounded, so that a wrong path can
 * neither hang the start nor fill the memory. Links are followed, because Kubernetes mounts secrets as links.
 * @returns the text, mode and owner of the file, or what is wrong with it, to be read after its name; never quotes the
 * content
 */
export async function readTextFile(path: string, maxBytes: number): Promise<FileContent> {
  let handle: FileHandle | undefined;
  try {
    // Non-blocking: opening a pipe that nobody writes to would wait forever.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await handle.stat();
    const problem = unusable(stats, maxBytes);
    if (problem !== undefined) return { kind: 'fault', problem };
    return decode(await readUpTo(handle, maxBytes + 1), stats, maxBytes);
  } catch (error) {
    return faultOf(error);
  } finally {
    await handle?.close();
  }
}

function unusable(stats: Stats, maxBytes: number): string | undefined {
  if (!stats.isFile()) return 'is not a regular file';
  return stats.size > maxBytes ? `is larger than ${maxBytes} bytes` : undefined;
}

/** The size reported by `stat` may change while the file is being read. */
async function readUpTo(handle: FileHandle, maxBytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(maxBytes);
  let length = 0;
  for (;;) {
    const { bytesRead } = await handle.read(buffer, length, maxBytes - length);
    length += bytesRead;
    if (bytesRead === 0 || length === maxBytes) return buffer.subarray(0, length);
  }
}

function decode(bytes: Buffer, stats: Stats, maxBytes: number): FileContent {
  if (bytes.length > maxBytes) return { kind: 'fault', problem: `is larger than ${maxBytes} bytes` };
  if (!isUtf8(bytes)) return { kind: 'fault', problem: 'is not UTF-8 text' };
  // A decoder rather than toString: it removes the byte order mark that some editors write.
  const text = new TextDecoder().decode(bytes);
  bytes.fill(0);
  return { kind: 'text', text, stats };
}

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist; check the path',
  ENOTDIR: 'does not exist; a part of its path is not a folder',
  EACCES: 'may not be read by this user; check owner and permissions',
  EPERM: 'may not be read by this user; check owner and permissions',
  ELOOP: 'is a link that leads back to itself',
  ENAMETOOLONG: 'has a path that is too long',
};

/** A file that cannot be read is for the operator to fix, whatever the reason; anything else is a bug of ours. */
function faultOf(error: unknown): FileContent {
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (typeof code !== 'string' || !/^E[A-Z0-9]{1,20}$/.test(code)) throw error;
  const problem = PROBLEMS[code] ?? `cannot be read (${code})`;
  return { kind: 'fault', problem, ...(code === 'ENOENT' ? { isMissing: true } : {}) };
}

/** How many files are open, or inspected, at a time. */
const BATCH = 32;

/** Does something with each file, a batch at a time; the results are in the order of the files. */
export async function inBatches<File, Result>(
  files: readonly File[],
  work: (file: File) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < files.length; start += BATCH) {
    results.push(...(await Promise.all(files.slice(start, start + BATCH).map(work))));
  }
  return results;
}
