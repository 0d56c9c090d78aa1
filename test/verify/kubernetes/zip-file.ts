import { inflateRawSync } from 'node:zlib';

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const STORED = 0;

interface Entry {
  readonly name: string;
  readonly method: number;
  readonly size: number;
  readonly at: number;
}

/**
 * One file of an archive in the common form: not encrypted, in one part, and smaller than 4 GiB.
 * @throws Error if the archive has no such file
 */
export function fileOfZip(zip: Buffer, name: string): Buffer {
  const entry = entriesOf(zip).find((one) => one.name === name);
  if (entry === undefined) throw new Error(`there is no ${name} in the archive`);
  // A file's own header has its own lengths: its extra field differs from the one in the directory.
  const start = entry.at + 30 + zip.readUInt16LE(entry.at + 26) + zip.readUInt16LE(entry.at + 28);
  const content = zip.subarray(start, start + entry.size);
  return entry.method === STORED ? content : inflateRawSync(content);
}

function entriesOf(zip: Buffer): readonly Entry[] {
  const end = zip.lastIndexOf(Buffer.from(Uint32Array.of(END).buffer));
  if (end === -1) throw new Error('this is no archive');
  const entries: Entry[] = [];
  let at = zip.readUInt32LE(end + 16);
  while (zip.readUInt32LE(at) === ENTRY) {
    const nameLength = zip.readUInt16LE(at + 28);
    entries.push({
      name: zip.toString('utf8', at + 46, at + 46 + nameLength),
      method: zip.readUInt16LE(at + 10),
      size: zip.readUInt32LE(at + 20),
      at: zip.readUInt32LE(at + 42),
    });
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return entries;
}
