import { generateClientKey } from '#libs/jwe';
import { createFiles } from '../key-file.js';
import type { Report } from '../report.js';

interface KeysGenerateOptions {
  readonly out: string;
  readonly publicOut?: string;
}

const PRIVATE_MODE = 0o600;
const PUBLIC_MODE = 0o644;

/**
 * Makes a client key pair: the private half goes to a new file of mode 0600, the public half to a file or into the
 * report.
 * @throws BrokerError `key_file_invalid` if a file already exists or cannot be created; then neither is created
 */
export async function keysGenerate({ out, publicOut }: KeysGenerateOptions): Promise<Report> {
  const { privateJwk, publicJwk, thumbprint } = await generateClientKey();
  const publicText = JSON.stringify(publicJwk, null, 2);
  await createFiles([
    { path: out, mode: PRIVATE_MODE, content: `${JSON.stringify(privateJwk, null, 2)}\n` },
    ...(publicOut === undefined ? [] : [{ path: publicOut, mode: PUBLIC_MODE, content: `${publicText}\n` }]),
  ]);
  return {
    lines: [
      `private key  ${out} (mode 0600; never leaves this machine but to the broker)`,
      `public key   ${publicOut ?? 'below'} (for the bank, if this is a merchant's key)`,
      `thumbprint   ${thumbprint}`,
      ...(publicOut === undefined ? [publicText] : []),
    ],
    json: { privateFile: out, ...(publicOut !== undefined && { publicFile: publicOut }), publicJwk, thumbprint },
  };
}
