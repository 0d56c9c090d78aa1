import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export function sha256Of(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

/** In the form that `sha256sum --check` reads. */
export function checksumsOf(folder, files) {
  return files.map((file) => `${sha256Of(join(folder, file))}  ${file}\n`).join('');
}
