/** As package.json demands it ("engines"). */
export const OLDEST_NODE = '24.11.1';

/** Libraries fail on it while they are loaded, in words that say nothing of the version. */
export function isTooOld(version: string): boolean {
  return isOlder(version, OLDEST_NODE);
}

function isOlder(version: string, than: string): boolean {
  const [left, right] = [version, than].map((text) => text.replace(/^v/, '').split('.').map(Number)) as [
    number[],
    number[],
  ];
  const difference = left.map((part, index) => part - (right[index] ?? 0)).find((each) => each !== 0);
  return (difference ?? 0) < 0;
}
