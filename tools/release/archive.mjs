// A tar archive that depends only on its content: archives of the same files by npm and Helm differ in timestamps or
// user.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const BLOCK = 512;
const MAX_NAME = 100;
const MAX_PREFIX = 155;
const [FILE_MODE, PROGRAM_MODE, REGULAR_FILE] = ['0000644', '0000755', '0'];
const MAY_RUN = 0o100;

const octal = (value, length) => value.toString(8).padStart(length - 1, '0');

/** The ustar format stores a long name in two parts, split at a slash. */
function nameAndPrefix(path) {
  if (Buffer.byteLength(path) <= MAX_NAME) return { name: path, prefix: '' };
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
    const [prefix, name] = [path.slice(0, slash), path.slice(slash + 1)];
    if (Buffer.byteLength(name) <= MAX_NAME && Buffer.byteLength(prefix) <= MAX_PREFIX) return { name, prefix };
  }
  throw new Error(`too long a path for an archive: ${path}`);
}

function header({ path, size, isProgram }, seconds) {
  const { name, prefix } = nameAndPrefix(path);
  const block = Buffer.alloc(BLOCK);
  const put = (text, at) => block.write(text, at, 'utf8');
  put(name, 0);
  put(isProgram ? PROGRAM_MODE : FILE_MODE, 100);
  put(octal(0, 8), 108);
  put(octal(0, 8), 116);
  put(octal(size, 12), 124);
  put(octal(seconds, 12), 136);
  put(' '.repeat(8), 148);
  put(REGULAR_FILE, 156);
  put('ustar\u000000', 257);
  put(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  put(`${octal(sum, 7)}\u0000 `, 148);
  return block;
}

/** The files below a folder, by relative path, in an order that is the same on every machine. */
export function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort((one, other) => (one < other ? -1 : 1));
}

/**
 * A tar.gz of all files in a folder: owned by root, readable by all, executable by all if executable by their owner,
 * with one timestamp, in the order of their names.
 * @param prefix before each name, such as `package/`
 */
export function archiveOf(folder, { prefix = '', date }) {
  const seconds = Math.floor(date.getTime() / 1000);
  const blocks = filesBelow(folder).flatMap((file) => {
    const content = readFileSync(join(folder, file));
    const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK);
    const isProgram = (statSync(join(folder, file)).mode & MAY_RUN) !== 0;
    return [header({ path: prefix + file, size: content.length, isProgram }, seconds), content, padding];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]), { level: 9 });
}
