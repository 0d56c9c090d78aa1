/**
 * Where a request wants to go, as written: nothing is decoded, so that no one reads it differently. Only slashes at the
 * front become one: published clients have a base URL with a slash at its end.
 */
export interface RequestTarget {
  readonly path: string;
  /** Including its question mark; empty if there is none. */
  readonly query: string;
}

/** Published clients also send the whole body in the query: up to 6 000 octets, before they are encoded. */
export const MAX_TARGET_LENGTH = 16_384;
const SLASHES_AT_FRONT = /^\/{2,}/;
/**
 * The characters that need no encoding in a path (RFC 3986 section 3.3). An encoded one could mean a different path,
 * and some servers do not treat what follows a semicolon as part of the path.
 */
const PATH = /^(?:\/[A-Za-z0-9._~!$&'()*+,=:@-]+)+$/;
const DOTS = /\/\.\.?(?:\/|$)/;
const QUERY = /^(?:\?[A-Za-z0-9._~!$&'()*+,;=:@/?%[\]|-]*)?$/;

/** @returns undefined for a target that two programs could understand differently */
export function requestTargetOf(url: string | undefined): RequestTarget | undefined {
  if (url === undefined || url.length > MAX_TARGET_LENGTH) return undefined;
  const at = url.indexOf('?');
  const path = (at < 0 ? url : url.slice(0, at)).replace(SLASHES_AT_FRONT, '/');
  const query = at < 0 ? '' : url.slice(at);
  return PATH.test(path) && !DOTS.test(path) && QUERY.test(query) ? { path, query } : undefined;
}
