import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toolPath } from '#libs/testing';
import { runToEnd } from './child.js';
import type { Jwk, Peer } from './peer.js';

const TEMPLATE = JSON.stringify({ protected: { alg: 'ECDH-ES+A256KW', enc: 'A256GCM' } });
/** One process per JWE; more at a time would only queue on a small machine. */
const AT_A_TIME = 4;

/** Debian's `jose`, written in C on OpenSSL and Jansson (latchset/jose). */
export const joseCli: Peer = {
  tool: 'jose',

  async generateKey() {
    const key = await runToEnd([toolPath('jose'), 'jwk', 'gen', '-i', '{"kty":"EC","crv":"P-384"}']);
    return JSON.parse(key.toString()) as Jwk;
  },

  async thumbprint(publicJwk) {
    const printed = await runToEnd(
      [toolPath('jose'), 'jwk', 'thp', '-a', 'S256', '-i', '-'],
      JSON.stringify(publicJwk),
    );
    return printed.toString().trim();
  },

  seal: (plaintexts, publicJwk) =>
    withKeyFile(publicJwk, (keyFile) =>
      inLanes(plaintexts, async (plaintext) => {
        const jwe = await runToEnd(
          [toolPath('jose'), 'jwe', 'enc', '-i', TEMPLATE, '-I', '-', '-k', keyFile, '-c'],
          plaintext,
        );
        return jwe.toString().trim();
      }),
    ),

  open: (jwes, privateJwk) =>
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
