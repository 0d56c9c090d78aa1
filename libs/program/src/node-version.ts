/** As required by package.json ("engines"). */
export const OLDEST_NODE = '24.11.1';

/** On such a version, libraries fail while they are loaded, in words that do not mention the version. */
export function isTooOld(version: string): boolean {
  return isOlder(version, OLDEST_NODE);
}

/** The same line is in docs/reference/command-line.md. */
const OF_THE_CLONE = 'a clone has one of its own: in its folder, export PATH="$PWD/node_modules/.bin:$PATH"';

/** @returns why nothing of ours runs on that version; undefined if it does */
export function refusedNode(version: string): string | undefined {
  return isTooOld(version) ? `Node.js ${version} is too old: run at least ${OLDEST_NODE}; ${OF_THE_CLONE}` : undefined;
}

/** Ends the process with one line on stderr if its Node.js is too old. To be called before anything else is loaded. */
export function demandNode(name: string): void {
  const refusal = refusedNode(process.versions.node);
  if (refusal === undefined) return;
  process.stderr.write(`${name} cannot start: ${refusal}\n`);
  process.exit(1);
}

function isOlder(version: string, than: string): boolean {
  const [left, right] = [version, than].map((text) => text.replace(/^v/, '').split('.').map(Number)) as [
    number[],
    number[],
  ];
  const difference = left.map((part, index) => part - (right[index] ?? 0)).find((each) => each !== 0);
  return (difference ?? 0) < 0;
}
