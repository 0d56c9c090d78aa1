import { spawnSync } from 'node:child_process';
import type { Requirement } from '#libs/testing';

export { describeWith } from '#libs/testing';

/** A program that must answer a question about its version. */
export function program(name: string, [command, ...args]: readonly [string, ...string[]], remedy: string): Requirement {
  const missing = (): string | undefined => {
    const { status } = spawnSync(command, args, { stdio: 'ignore' });
    return status === 0 ? undefined : `${name} does not run here; ${remedy}`;
  };
  return { name, missing };
}
