import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const TSC = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));

const STRICT = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--skipLibCheck', 'false'];
/** For Nest's, which TypeScript still calls experimental. */
const DECORATORS = ['--experimentalDecorators', '--emitDecoratorMetadata'];
const TARGET = [
  '--noEmit',
  '--allowImportingTsExtensions',
  '--module',
  'nodenext',
  '--target',
  'es2022',
  '--lib',
  'es2022',
  '--types',
  'node',
];

/** The compiler's complaints about these files of a folder, under the strictest settings; empty if there are none. */
export async function strictCompilerFaults(folder: string, files: readonly string[]): Promise<string> {
  const paths = files.map((file) => join(folder, file));
  const compiling = run(process.execPath, [TSC, ...STRICT, ...DECORATORS, ...TARGET, ...paths], { cwd: folder });
  return (await compiling.catch((error: { stdout: string }) => error)).stdout;
}
