import { open, type FileHandle, unlink } from 'node:fs/promises';
import { pemRemedy, readTextFile } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import { importClientKey, importPaymentKey, type PublicJwk, thumbprintOf } from '#libs/jwe';
import { namesToken, readTokenKeyFile } from '#libs/pkcs11';
import { systemCodeOf } from './system-error.js';

/** A P-384 JWK is under 1 KiB; anything larger is some other file. */
const MAX_KEY_FILE_BYTES = 64 * 1024;
const READABLE_BY_OTHERS = 0o077;

interface KeyFile {
  readonly kind: 'private' | 'public';
  readonly publicJwk: PublicJwk;
  readonly thumbprint: string;
  readonly warnings: readonly string[];
}

/**
 * Reads one JWK and checks it by the rules of the interface description, "Client key".
 * @throws BrokerError `key_file_invalid` if the file cannot be read, `jwk_invalid` if the key breaks a rule
 */
export async function readKeyFile(path: string): Promise<KeyFile> {
  const { text, mode } = await readBounded(path);
  const jwk = parseJson(path, text);
  const isPrivate = typeof jwk === 'object' && jwk !== null && 'd' in jwk;
  const publicJwk = isPrivate ? (await importClientKey(jwk)).publicJwk : (await importPaymentKey(jwk)).jwk;
  const exposed = isPrivate && (mode & READABLE_BY_OTHERS) !== 0;
  return {
    kind: isPrivate ? 'private' : 'public',
    publicJwk,
    thumbprint: thumbprintOf(publicJwk),
    warnings: exposed ? [`${path} is a private key that other users of this machine can reach: chmod 600 ${path}`] : [],
  };
}

/**
 * The public half and the location of a key that is kept in a token; undefined if the file names none.
 * @throws BrokerError `key_file_invalid` or `jwk_invalid`
 */
export async function readTokenKey(path: string): Promise<Awaited<ReturnType<typeof readTokenKeyFile>> | undefined> {
  const jwk = parseJson(path, (await readBounded(path)).text);
  return namesToken(jwk) ? readTokenKeyFile(jwk) : undefined;
}

/** The public key in the form in which it is handed to the bank (interface description, "Client key"). */
export function bankForm({ kty, crv, x, y }: PublicJwk): Record<string, string> {
  return { kty, crv, use: 'enc', alg: 'ECDH-ES+A256KW', x, y };
}

interface NewFile {
  readonly path: string;
  readonly mode: number;
  readonly content: string;
}

/**
 * Creates all the files or none. An existing one, even a dangling link, is never overwritten or followed (O_EXCL).
 * @throws BrokerError `key_file_invalid`
 */
export async function createFiles(files: readonly NewFile[]): Promise<void> {
  const created: { path: string; handle: FileHandle }[] = [];
  try {
    for (const { path, mode } of files) created.push({ path, handle: await create(path, mode) });
    for (const [index, { handle }] of created.entries()) {
      await handle.writeFile(files[index]?.content ?? '');
      await handle.sync();
    }
  } catch (error) {
    await Promise.all(created.map(({ path }) => unlink(path)));
    throw error;
  } finally {
    await Promise.all(created.map(({ handle }) => handle.close()));
  }
}

async function create(path: string, mode: number): Promise<FileHandle> {
  try {
    return await open(path, 'wx', mode);
  } catch (error) {
    const problem =
      systemCodeOf(error) === 'EEXIST' ? 'exists already, and a key file is never overwritten' : 'cannot be created';
    throw unusable(path, `${problem} (${systemCodeOf(error)})`, error);
  }
}

/** @throws BrokerError `key_file_invalid` if it cannot be read, or is too large for a key */
export async function readBounded(path: string): Promise<{ text: string; mode: number }> {
  const found = await readTextFile(path, MAX_KEY_FILE_BYTES);
  if (found.kind === 'fault') throw unusable(path, found.problem);
  return { text: found.text, mode: found.stats.mode };
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message is dropped on purpose: it quotes the text, which may be a private key.
    throw unusable(path, pemRemedy(text, path) ?? 'is not JSON');
  }
}

function unusable(path: string, problem: string, cause?: unknown): BrokerError {
  return new BrokerError('key_file_invalid', { detail: `${path} ${problem}`, cause });
}
