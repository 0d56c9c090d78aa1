// Compiles the native part of pkcs11js, which is needed only to keep a client key in a token: docs/hsm.md. `npm ci`
// runs no package scripts, so it gives the same result with or without a compiler.
//   npm run build:pkcs11                        fails if it cannot be compiled
//   node tools/build-pkcs11.mjs --if-possible   says so and goes on: for npm test, to which npm gives its node-gyp
import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

const folder = join(import.meta.dirname, '..', 'node_modules', 'pkcs11js');
const isOptional = process.argv.includes('--if-possible');

/** The pinned Node.js package includes its headers, so nothing is downloaded. */
function headersOfThisNode() {
  const nodedir = dirname(dirname(realpathSync(process.execPath)));
  return existsSync(join(nodedir, 'include', 'node', 'node_api.h')) ? [`--nodedir=${nodedir}`] : [];
}

function compile() {
  if (!existsSync(folder)) return 'it is not installed';
  const { error, status, stderr } = spawnSync('node-gyp', ['rebuild', ...headersOfThisNode()], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  if (error !== undefined) return 'there is no node-gyp: npm run build:pkcs11';
  if (status !== 0) return `it takes Python, make and a C++ compiler\n${isOptional ? '' : stderr}`.trimEnd();
  rmSync(join(folder, 'build', 'Release', 'obj.target'), { recursive: true, force: true });
  return undefined;
}

if (!existsSync(join(folder, 'build', 'Release', 'pkcs11.node'))) {
  const failure = compile();
  if (failure !== undefined) {
    console.error(`pkcs11js was not compiled: ${failure}`);
    if (!isOptional) process.exitCode = 1;
  }
}
