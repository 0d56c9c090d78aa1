import { writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';

/** Writes a generated file formatted as `prettier --check` wants it, so that a test can compare it with its source. */
export async function writeFormatted(file, text) {
  await writeFile(file, await format(text, { ...(await resolveConfig(file)), filepath: file }));
}
