import { join } from 'node:path';
import { toolPath } from '#libs/testing';
import { runToEnd } from './child.js';
import type { Jwk, Peer } from './peer.js';

/** The distribution's interpreter, since another Python on the PATH does not have the package. */
const python = (): string => toolPath('jwcrypto', '/usr/bin/python3');
const SCRIPT = join(import.meta.dirname, 'jwcrypto_peer.py');

/** Debian's `python3-jwcrypto`, on pyca/cryptography. One process answers a whole batch, a line each. */
export const jwcrypto: Peer = {
  tool: 'jwcrypto',

  generateKey: async () => JSON.parse(await only(ask('generate', {}, ['']))) as Jwk,
  thumbprint: (publicJwk) => only(ask('thumbprint', publicJwk, [''])),
  seal: (plaintexts, publicJwk) =>
    ask(
      'seal',
      publicJwk,
      plaintexts.map((plaintext) => plaintext.toString('base64')),
    ),
  open: async (jwes, privateJwk) =>
    (await ask('open', privateJwk, jwes)).map((plaintext) => Buffer.from(plaintext, 'base64')),
};

async function ask(verb: string, key: Jwk, lines: readonly string[]): Promise<string[]> {
  const input = [JSON.stringify(key), ...lines].map((line) => `${line}\n`).join('');
  const output = (await runToEnd([python(), SCRIPT, verb], input)).toString();
  return output.split('\n').slice(0, -1);
}

async function only(answers: Promise<readonly string[]>): Promise<string> {
  const [first] = await answers;
  if (first === undefined) throw new Error('the peer gave no answer');
  return first;
}
