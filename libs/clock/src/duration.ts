const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof UNIT_MS;

/** Ten years: a longer duration in a setting is a mistake. */
const MAX_MS = 3_650 * UNIT_MS.d;

/**
 * Reads a duration such as `500ms`, `5s`, `15m`, `2h` or `1d` (a whole or decimal number and one unit).
 * @returns milliseconds, or undefined when the text is not a duration or is longer than ten years
 */
export function parseDurationMs(text: string): number | undefined {
  const match = /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d)$/.exec(text);
  if (match === null) return undefined;
  const durationMs = Number(match[1]) * UNIT_MS[match[2] as Unit];
  return durationMs <= MAX_MS ? durationMs : undefined;
}

/** The shortest exact text for a duration, e.g. `90s`, `2h`, `1500ms`. */
export function formatDuration(durationMs: number): string {
  const units: readonly Unit[] = ['d', 'h', 'm', 's'];
  const unit = units.find((candidate) => durationMs !== 0 && durationMs % UNIT_MS[candidate] === 0) ?? 'ms';
  return `${durationMs / UNIT_MS[unit]}${unit}`;
}
