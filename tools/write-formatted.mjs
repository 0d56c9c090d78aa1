import { writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';

/** Writes a generated file as `prettier --check` wants it, so that a test can hold it equal to its source. */
export async function writeFormatted(file, text) {
  await writeFile(file, await format(text, { ...(await resolveConfig(file)), filepath: file }));
}
