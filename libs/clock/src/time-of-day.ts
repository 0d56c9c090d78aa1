const MINUTE_MS = 60_000;

/** Reads `00:00` to `23:59`; undefined when it is not a time of day. @returns milliseconds after midnight */
export function parseTimeOfDayMs(text: string): number | undefined {
  const match = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text);
  return match === null ? undefined : (Number(match[1]) * 60 + Number(match[2])) * MINUTE_MS;
}
