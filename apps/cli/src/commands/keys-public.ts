import { bankForm, createFiles, readKeyFile } from '../key-file.js';
import type { Report } from '../report.js';

interface KeysPublicOptions {
  readonly file: string;
  readonly out?: string;
}

/**
 * The public half of a key file, in the form in which it is handed to the bank.
 * @throws BrokerError `key_file_invalid` or `jwk_invalid`
 */
export async function keysPublic({ file, out }: KeysPublicOptions): Promise<Report> {
  const { publicJwk, thumbprint, warnings } = await readKeyFile(file);
  const jwk = bankForm(publicJwk);
  const text = JSON.stringify(jwk, null, 2);
  if (out === undefined) return { lines: [text], json: { publicJwk: jwk, thumbprint }, warnings };
  await createFiles([{ path: out, mode: 0o644, content: `${text}\n` }]);
  return {
    lines: [`public key   ${out} (for the bank, if this is a merchant's key)`, `thumbprint   ${thumbprint}`],
    json: { publicFile: out, publicJwk: jwk, thumbprint },
    warnings,
  };
}
