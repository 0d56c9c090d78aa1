import type { Tone } from './listed-merchant.js';
import { toned } from './toned.js';

export interface Cell {
  readonly text: string;
  readonly tone?: Tone;
}

const GAP = '  ';

/** Lines with aligned columns; the last column is not padded. Colours do not count as width. */
export function tableLines(rows: readonly (readonly Cell[])[], hasColours: boolean): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach(({ text }, at) => (widths[at] = Math.max(widths[at] ?? 0, text.length)));
  return rows.map((row) =>
    row
      .map(({ text, tone }, at) => {
        const padding = at === row.length - 1 ? '' : ' '.repeat((widths[at] ?? 0) - text.length);
        return toned(text, tone, hasColours) + padding;
      })
      .join(GAP)
      .trimEnd(),
  );
}
