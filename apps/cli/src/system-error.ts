/** The code of an operating system error, e.g. `EEXIST`; `unknown` for anything else. */
export function systemCodeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unknown';
}
