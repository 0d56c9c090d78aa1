import { BrokerError } from '#libs/errors';
import { readKeyFile } from '../key-file.js';
import type { Report } from '../report.js';

interface KeysCheckOptions {
  readonly file: string;
  /** The kind of key that belongs in this place; if absent, either. */
  readonly expect?: 'private' | 'public';
}

/**
 * Checks a key file by the rules that the broker applies.
 * @throws BrokerError `key_file_invalid` or `jwk_invalid`, naming the broken rule but never a value
 */
export async function keysCheck({ file, expect }: KeysCheckOptions): Promise<Report> {
  const { kind, thumbprint, warnings } = await readKeyFile(file);
  if (expect !== undefined && expect !== kind) {
    throw new BrokerError('key_file_invalid', { detail: `${file} holds a ${kind} key where a ${expect} one is due` });
  }
  return {
    lines: [`${file} holds a usable ${kind} key (EC, P-384)`, `thumbprint   ${thumbprint}`],
    json: { file, kind, thumbprint },
    warnings,
  };
}
