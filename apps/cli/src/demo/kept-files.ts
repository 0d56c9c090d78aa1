import { createHash, randomBytes } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { BrokerError } from '#libs/errors';
import { generateClientKey } from '#libs/jwe';
import { bankForm, readKeyFile } from '../key-file.js';
import { systemCodeOf } from '../system-error.js';

const TOKEN_FORM = /^demo-[\w-]{32}$/;

/** @returns the public half of the key in the file, in the bank's form; a missing or damaged key is replaced */
export async function keepKey(path: string): Promise<Record<string, string>> {
  try {
    return bankForm((await readKeyFile(path)).publicJwk);
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error;
    const { privateJwk, publicJwk } = await generateClientKey();
    await replaceFile(path, `${JSON.stringify(privateJwk, null, 2)}\n`);
    return publicJwk;
  }
}

/** @returns the token in the file; a missing or damaged one is replaced */
export function keepToken(path: string): Promise<string> {
  return keepText(path, { form: TOKEN_FORM, make: () => `demo-${randomBytes(24).toString('base64url')}` });
}

interface KeptText {
  readonly form: RegExp;
  readonly make: () => string;
}

/** @returns the one line in the file; if it is missing or has another form, it is replaced */
export async function keepText(path: string, { form, make }: KeptText): Promise<string> {
  const kept = await readKept(path);
  if (form.test(kept)) return kept;
  const made = make();
  await replaceFile(path, `${made}\n`);
  return made;
}

async function readKept(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return '';
    throw error;
  }
}

/** Written completely or not at all: a start that is killed halfway leaves the previous file. */
export async function replaceFile(path: string, content: string): Promise<void> {
  const draft = `${path}.${process.pid}`;
  await rm(draft, { force: true });
  await writeFile(draft, content, { mode: 0o600, flag: 'wx' });
  await rename(draft, path);
}

export const sha256Of = (token: string): string => createHash('sha256').update(token).digest('hex');
