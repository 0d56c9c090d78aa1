import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Something that a proof needs and a clean clone does not have. */
export interface Requirement {
  readonly name: string;
  /** What is missing and how to get it, or undefined when it is there. */
  readonly missing: () => string | undefined;
}

/** Third-party vectors lie beside the repository, not in it. */
export const vectorsFolder = join(import.meta.dirname, '..', '..', '..', 'shared', 'vectors');

export const vectors: Requirement = {
  name: 'third-party vectors',
  missing: () => (existsSync(join(vectorsFolder, 'README.md')) ? undefined : 'there is no ../shared/vectors'),
};

/** A program that must answer a question about its version. */
export function program(name: string, [command, ...args]: readonly [string, ...string[]], remedy: string): Requirement {
  const missing = (): string | undefined => {
    const { status } = spawnSync(command, args, { stdio: 'ignore' });
    return status === 0 ? undefined : `${name} does not run here; ${remedy}`;
  };
  return { name, missing };
}

/**
 * A `describe` for proofs that a clean clone cannot give: there they report themselves as skipped, with the reason.
 * In CI a skip would hide that nothing was proven, so there it is a failure.
 */
export function describeWith(requirement: Requirement, title: string, body: () => void): void {
  const reason = requirement.missing();
  if (reason === undefined) {
    describe(title, body);
  } else if (process.env['CI'] === 'true') {
    it(`${title}: has what it needs`, () => {
      throw new Error(`In CI this proof may not be skipped, but ${reason}.`);
    });
  } else {
    process.stderr.write(`SKIPPED ${title}: ${reason}\n`);
    it.skip(`${title} (skipped: ${reason})`, () => undefined);
  }
}
