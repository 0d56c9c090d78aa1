import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const CHUNK_BYTES = 1_048_576;
const PAGE_BYTES = 4_096;
/** An entry of a pagemap: 64 bits, little-endian, whose two highest say that the page is in memory or swapped out. */
const ENTRY_BYTES = 8;
const IN_USE = 0b1100_0000;

/** Each form that a scalar of 48 octets can have in memory, by name. */
export function formsOf(scalar: Buffer): ReadonlyMap<string, Buffer> {
  const hex = scalar.toString('hex');
  const texts = {
    hex,
    HEX: hex.toUpperCase(),
    decimal: BigInt(`0x${hex}`).toString(),
    base64url: scalar.toString('base64url'),
    base64: scalar.toString('base64'),
  };
  const forms = new Map<string, Buffer>([
    ['octets', scalar],
    // As OpenSSL and the engine keep the limbs of a number in memory.
    ['octets reversed', Buffer.from(scalar).reverse()],
  ]);
  for (const [name, text] of Object.entries(texts)) {
    forms.set(name, Buffer.from(text, 'latin1'));
    forms.set(`${name} in UTF-16`, Buffer.from(text, 'utf16le'));
  }
  return forms;
}

/** The names of the forms found in it. */
export function foundIn(haystack: Buffer, forms: ReadonlyMap<string, Buffer>): string[] {
  return [...forms].flatMap(([name, form]) => (haystack.includes(form) ? [name] : []));
}

/** The names of the forms found anywhere in the memory of a process, as a core dump would hold it (Linux). */
export function foundInMemory(pid: number, forms: ReadonlyMap<string, Buffer>): string[] {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const pagemap = openSync(`/proc/${pid}/pagemap`, 'r');
  const found = new Set<string>();
  try {
    for (const { from, to } of writableRanges(pid)) {
      let tail = Buffer.alloc(0);
      for (let at = from; at < to; at += CHUNK_BYTES) {
        const bytes = Math.min(CHUNK_BYTES, to - at);
        const chunk = isInUse(pagemap, at, bytes) ? readAt(memory, at, bytes) : Buffer.alloc(0);
        const read = Buffer.concat([tail, chunk]);
        for (const name of foundIn(read, forms)) found.add(name);
        // A form may span two chunks.
        tail = read.subarray(-256);
      }
    }
  } finally {
    closeSync(memory);
    closeSync(pagemap);
  }
  return [...found].sort();
}

/** A process has never touched most of what it has reserved, which is gigabytes: there is nothing there to search. */
function isInUse(pagemap: number, at: number, bytes: number): boolean {
  const entries = Buffer.alloc(Math.ceil(bytes / PAGE_BYTES) * ENTRY_BYTES);
  const read = readSync(pagemap, entries, 0, entries.length, (at / PAGE_BYTES) * ENTRY_BYTES);
  for (let highest = ENTRY_BYTES - 1; highest < read; highest += ENTRY_BYTES) {
    if (((entries[highest] ?? 0) & IN_USE) !== 0) return true;
  }
  return false;
}

function writableRanges(pid: number): { readonly from: number; readonly to: number }[] {
  const lines = readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n');
  return lines.flatMap((line) => {
    const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
    return from === undefined || to === undefined ? [] : [{ from: parseInt(from, 16), to: parseInt(to, 16) }];
  });
}

/** Memory that cannot be read was given back to the system in the meantime. */
function readAt(memory: number, at: number, bytes: number): Buffer {
  const chunk = Buffer.alloc(bytes);
  try {
    return chunk.subarray(0, readSync(memory, chunk, 0, bytes, at));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EIO') throw error;
    return Buffer.alloc(0);
  }
}
