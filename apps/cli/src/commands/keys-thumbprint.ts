import { readKeyFile } from '../key-file.js';
import type { Report } from '../report.js';

/**
 * The RFC 7638 thumbprint of a private or public key file: the name that sessions and logs use for the key.
 * @throws BrokerError `key_file_invalid` or `jwk_invalid`
 */
export async function keysThumbprint({ file }: { readonly file: string }): Promise<Report> {
  const { thumbprint, warnings } = await readKeyFile(file);
  return { lines: [thumbprint], json: { file, thumbprint }, warnings };
}
