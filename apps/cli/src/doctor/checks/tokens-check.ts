import { dirname, resolve } from 'node:path';
import type { NamedFile } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import {
  TokenClientKeys,
  TokenError,
  type TokenFault,
  tokenFaults,
  TokenProcess,
  type TokenReference,
} from '#libs/pkcs11';
import { clientKeyInCustody, type PublicJwk } from '#libs/jwe';
import { readTokenKey } from '../../key-file.js';
import { type Check, fact, fault, type Finding, looked, notApplicable, warning } from '../check.js';

interface FilesToCheck {
  /** The configuration file. */
  readonly file: string;
  readonly named: readonly NamedFile[];
  /** The PKCS#11 modules that may be run. */
  readonly modules: readonly (string | undefined)[];
}

interface NamedToken {
  readonly path: string;
  readonly reference: TokenReference;
  readonly publicJwk: PublicJwk;
}

/** What had already succeeded before each fault, in the reader's words. */
const STEPS: readonly { readonly right: string; readonly faults: readonly TokenFault[] }[] = [
  { right: 'the module loads', faults: ['not_installed', 'module_not_loaded', 'module_failed'] },
  { right: 'the token is there', faults: ['token_absent', 'token_ambiguous'] },
  { right: 'its PIN is right', faults: ['pin_unreadable', 'pin_refused', 'pin_locked'] },
  { right: 'its key is on P-384', faults: ['key_absent', 'key_ambiguous', 'key_not_p384'] },
];
const NO_EXTRACTION =
  'make the next key in the token (CKA_SENSITIVE, CKA_EXTRACTABLE false), and let the bank have its public half';

/** Client keys kept in PKCS#11 tokens, with one line for each step of using them. */
export function tokensCheck(files: FilesToCheck): Check {
  return {
    name: 'tokens',
    limitMs: 30_000,
    run: async () => {
      const tokens = await tokensAmong(files);
      if (tokens.length === 0) return notApplicable('no client key is kept in a token');
      const process = new TokenProcess();
      try {
        const findings: Finding[] = [];
        for (const token of tokens) findings.push(...(await lookAt(token, process)));
        return looked(findings);
      } finally {
        process.close();
      }
    },
  };
}

/** The configuration check reports a file that cannot be read, is not a key or names another module. */
async function tokensAmong({ file: configuration, named, modules }: FilesToCheck): Promise<readonly NamedToken[]> {
  const folder = dirname(resolve(configuration));
  const tokens: NamedToken[] = [];
  for (const { path, file } of named.filter((each) => each.path.includes('.clientKeyFiles['))) {
    try {
      const key = await readTokenKey(resolve(folder, file));
      if (key !== undefined && modules.includes(key.reference.module)) tokens.push({ path, ...key });
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error;
    }
  }
  return tokens;
}

async function lookAt({ path, reference, publicJwk }: NamedToken, process: TokenProcess): Promise<readonly Finding[]> {
  const facts = (count: number): Finding[] => STEPS.slice(0, count).map(({ right }) => fact(`${path}: ${right}`));
  try {
    const { extractable } = await process.inspect(reference);
    const loose = extractable
      ? [warning(`${path}: the token would give its key out, or once could`, NO_EXTRACTION)]
      : [];
    return [...facts(STEPS.length), ...loose, ...(await derivation({ path, reference, publicJwk }, process))];
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    const step = STEPS.findIndex(({ faults }) => faults.includes(error.fault));
    return [...facts(Math.max(0, step)), tokenFault(path, error)];
  }
}

async function derivation(
  { path, reference, publicJwk }: NamedToken,
  process: TokenProcess,
): Promise<readonly Finding[]> {
  try {
    await clientKeyInCustody(publicJwk, new TokenClientKeys(reference, process));
    return [fact(`${path}: it derives, and belongs to the public key of the file`)];
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error;
    if (error.code === 'jwk_invalid') {
      const remedy = 'write x and y of the key that is in the token into the file, or name another key';
      return [fault('invalidInput', `${path}: the key in the token is not that of the file`, remedy)];
    }
    return [fault('tryLater', `${path}: ${error.detail ?? error.message}`, 'see docs/hsm.md')];
  }
}

function tokenFault(path: string, { fault: name, mark }: TokenError): Finding {
  const [what = '', remedy = ''] = tokenFaults[name].split(/: (.*)/);
  const isPersons =
    name !== 'no_answer' && name !== 'process_ended' && name !== 'token_absent' && name !== 'module_failed';
  const told = `${path}: ${name}${mark === undefined ? '' : ` [${mark}]`}: ${what}`;
  return fault(isPersons ? 'invalidInput' : 'tryLater', told, remedy === '' ? 'see docs/hsm.md' : remedy);
}
