import { execFile } from 'node:child_process';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { toolPath } from '#libs/testing';

const run = promisify(execFile);

/** Compiles with what this machine has, and nothing from the network. */
const SETTINGS = { GOFLAGS: '-mod=mod', GOPROXY: 'off', GOTOOLCHAIN: 'local' };

/**
 * What `go run` makes of a source before it starts it. Made only once: `go run` would link it again for each run, which
 * takes longer than the program does.
 * @returns the program, in the folder
 */
export async function goProgram(source: string, folder: string): Promise<string> {
  const program = join(folder, basename(source, '.go'));
  const env = { ...process.env, ...SETTINGS, GOCACHE: join(folder, 'cache') };
  await run(toolPath('go'), ['build', '-o', program, source], { env, timeout: 170_000 });
  return program;
}
