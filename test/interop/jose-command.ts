import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toolPath } from '#libs/testing';

type Jwk = Readonly<Record<string, unknown>>;

const TEMPLATE = JSON.stringify({ protected: { alg: 'ECDH-ES+A256KW', enc: 'A256GCM' } });
/** One process per JWE; more at a time would only queue on a small machine. */
const AT_A_TIME = 4;

/**
 * Debian's `jose`, written in C on OpenSSL and Jansson (latchset/jose): it shares no code with ours, so that a common
 * mistake would be a coincidence.
 */
export const joseCommand = {
  /** A private key on P-384, as it writes one. */
  async generateKey(): Promise<Jwk> {
    const key = await runToEnd([toolPath('jose'), 'jwk', 'gen', '-i', '{"kty":"EC","crv":"P-384"}']);
    return JSON.parse(key.toString()) as Jwk;
  },

  /** The RFC 7638 thumbprint, SHA-256, base64url. */
  async thumbprint(publicJwk: Jwk): Promise<string> {
    const printed = await runToEnd(
      [toolPath('jose'), 'jwk', 'thp', '-a', 'S256', '-i', '-'],
      JSON.stringify(publicJwk),
    );
    return printed.toString().trim();
  },

  seal: (plaintexts: readonly Buffer[], publicJwk: Jwk): Promise<readonly string[]> =>
    withKeyFile(publicJwk, (keyFile) =>
      inLanes(plaintexts, async (plaintext) => {
        const jwe = await runToEnd(
          [toolPath('jose'), 'jwe', 'enc', '-i', TEMPLATE, '-I', '-', '-k', keyFile, '-c'],
          plaintext,
        );
        return jwe.toString().trim();
      }),
    ),

  open: (jwes: readonly string[], privateJwk: Jwk): Promise<readonly Buffer[]> =>
    withKeyFile(privateJwk, (keyFile) =>
      inLanes(jwes, (jwe) => runToEnd([toolPath('jose'), 'jwe', 'dec', '-i', '-', '-k', keyFile, '-O', '-'], jwe)),
    ),
};

async function withKeyFile<Result>(jwk: Jwk, use: (file: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'interop-'));
  try {
    const file = join(folder, 'key.jwk');
    await writeFile(file, JSON.stringify(jwk), { mode: 0o600 });
    return await use(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function inLanes<In, Out>(inputs: readonly In[], work: (input: In) => Promise<Out>): Promise<Out[]> {
  const outputs: Out[] = [];
  const queue = inputs.entries();
  const lane = async (): Promise<void> => {
    for (const [index, input] of queue) outputs[index] = await work(input);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, lane));
  return outputs;
}

/** Runs a program to its end, with `input` on stdin; gives stdout, or throws with stderr. */
async function runToEnd(
  [command, ...args]: readonly [string, ...string[]],
  input: string | Buffer = '',
): Promise<Buffer> {
  const child = spawn(command, args, { stdio: 'pipe' });
  const output: Buffer[] = [];
  const complaint: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => complaint.push(chunk));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    // A program that has failed may close its input before all of it is written; its exit code tells.
    child.stdin.once('error', () => undefined);
    child.once('close', resolve);
  });
  child.stdin.end(input);
  const code = await ended;
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${Buffer.concat(complaint).toString()}`);
  return Buffer.concat(output);
}
