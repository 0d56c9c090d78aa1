/** With more typing errors than this, nobody knows what was meant. */
const MAX_SLIPS = 2;
const MAX_LENGTH = 64;

/**
 * The name that was probably meant: the same but for one or two typing errors. The result is always one of the names,
 * and reveals about the text only that it looks like that name.
 */
export function nearestName(text: string, names: readonly string[]): string | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const near = names.map((name) => ({ name, slips: slipsBetween(plain(text), plain(name)) }));
  return near.sort((left, right) => left.slips - right.slips).find(({ slips }) => slips <= MAX_SLIPS)?.name;
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[\s_-]/g, '_');

/** Characters added, left out or replaced (Levenshtein), as far as they matter here. */
function slipsBetween(text: string, name: string): number {
  if (Math.abs(text.length - name.length) > MAX_SLIPS) return Infinity;
  let above = Array.from({ length: name.length + 1 }, (_, index) => index);
  for (const [row, character] of [...text].entries()) {
    const line = [row + 1];
    for (const [column, other] of [...name].entries()) {
      const replaced = (above[column] ?? 0) + (character === other ? 0 : 1);
      line.push(Math.min(replaced, (above[column + 1] ?? 0) + 1, (line[column] ?? 0) + 1));
    }
    above = line;
  }
  return above.at(-1) ?? 0;
}
