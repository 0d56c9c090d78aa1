import { dirname, resolve } from 'node:path';
import type { BrokerConfiguration, NamedFile } from '#libs/configuration';
import { TokenProcess } from '#libs/pkcs11';
import { readTokenKey } from '../key-file.js';
import { type Check, fact, type Finding, looked, some, warning } from './check.js';

type Configured = Pick<BrokerConfiguration, 'merchants' | 'files'>;

/**
 * The client keys by thumbprint, for whoever compares them with what the bank has. That each is on P-384, can be used
 * and belongs to one merchant, the configuration has shown; what a token would give out of it has not.
 */
export function keysCheck(file: string, { merchants, files }: Configured): Check {
  return {
    name: 'keys',
    limitMs: 30_000,
    run: async () => {
      const keys = merchants.map(({ id, clientKeys }) => ({
        merchant: id,
        thumbprints: clientKeys.map(({ thumbprint }) => thumbprint),
      }));
      const newest = keys.map(({ merchant, thumbprints }) => `${merchant} ${thumbprints[0]}`);
      return looked([fact(`newest of ${some(newest)}`), ...(await extractable(files, dirname(resolve(file))))], {
        keys,
      });
    },
  };
}

async function extractable(files: readonly NamedFile[], folder: string): Promise<readonly Finding[]> {
  const tokens = new TokenProcess();
  try {
    const findings: Finding[] = [];
    for (const { path, file } of files.filter((each) => each.path.includes('.clientKeyFiles['))) {
      const key = await readTokenKey(resolve(folder, file));
      if (key === undefined || !(await tokens.inspect(key.reference)).extractable) continue;
      const remedy =
        'make the next key in the token (CKA_SENSITIVE, CKA_EXTRACTABLE false), and give the bank its public half';
      findings.push(warning(`${path}: the token can give its key out, or once could`, remedy));
    }
    return findings;
  } finally {
    tokens.close();
  }
}
