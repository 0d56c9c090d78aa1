import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const dockerfile = readFileSync(join(import.meta.dirname, '..', '..', '..', 'deploy', 'Dockerfile'), 'utf8');

/** What the image gives Node.js before the program. */
export const imageNodeArguments: readonly string[] = (
  JSON.parse(/^CMD (.+)$/m.exec(dockerfile)?.[1] ?? '') as readonly string[]
).slice(1, -1);

export const imageEnvironment: Readonly<Record<string, string>> = Object.fromEntries(
  (/^ENV (.+)$/m.exec(dockerfile)?.[1]?.split(' ') ?? []).map((pair) => pair.split('=') as [string, string]),
);
