import { BrokerError } from '#libs/errors';
import { jwkOfPem, pemKindOf, thumbprintOf } from '#libs/jwe';
import { createFiles, readBounded } from '../key-file.js';
import type { Report } from '../report.js';

interface KeysConvertOptions {
  readonly file: string;
  readonly out: string;
}

/**
 * Writes the key of a PEM file as the JWK that broker and bank accept; a private key goes to a file of mode 0600.
 * @throws BrokerError `key_file_invalid` for files, `jwk_invalid` for a key that the interface description does not
 * allow
 */
export async function keysConvert({ file, out }: KeysConvertOptions): Promise<Report> {
  const { text } = await readBounded(file);
  const kind = pemKindOf(text);
  if (kind === undefined) throw new BrokerError('key_file_invalid', { detail: `${file} holds no key in PEM` });
  const jwk = jwkIn(file, text);
  const { x = '', y = '' } = jwk;
  const thumbprint = thumbprintOf({ kty: 'EC', crv: 'P-384', x, y });
  const mode = kind === 'private' ? 0o600 : 0o644;
  await createFiles([{ path: out, mode, content: `${JSON.stringify(jwk, null, 2)}\n` }]);
  return {
    lines: [`${kind} key  ${out} (mode 0${mode.toString(8)})`, `thumbprint   ${thumbprint}`],
    json: { file: out, kind, thumbprint },
  };
}

function jwkIn(file: string, text: string): ReturnType<typeof jwkOfPem> {
  try {
    return jwkOfPem(text);
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error;
    throw new BrokerError(error.code, { detail: `${file}: ${error.detail ?? 'it is not a key'}` });
  }
}
