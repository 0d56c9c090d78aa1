/**
 * A request waits no longer than this, whatever the caller prefers: proxies along the way give up at about this time.
 */
export const MAX_WAIT_S = 60;

/**
 * Reads the `wait` preference (RFC 7240 section 4.3). A preference that is not understood is ignored, as the RFC
 * requires; one that is too long is cut to the maximum.
 * @returns seconds, or undefined when there is no such preference
 */
export function preferredWaitSeconds(prefer: string | readonly string[] | undefined): number | undefined {
  if (prefer === undefined) return undefined;
  const preferences = [prefer].flat().join(',').split(',');
  for (const preference of preferences) {
    const match = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:;.*)?$/i.exec(preference);
    if (match !== null) return Math.min(Number(match[1]), MAX_WAIT_S);
  }
  return undefined;
}
