import type { TextRule } from './value-rule.js';

const MAX_LENGTH = 512;

/**
 * RFC 3986 `pchar` without escapes and without `*`: a path that needs more can be written in two ways, or is a trap.
 */
const LITERAL_PART = /^(?!\.{1,2}$)[\w.~!$&'()+,;=:@-]+$/;
const ONE = '*';
const REST = '**';

/** `/ecom/execute_request/hpp/**`: `*` is exactly one part of a path, `**` at its end is one or more. */
export const routePath: TextRule = {
  expects:
    'a path such as /ecom/execute_request/**: parts of letters, digits and -._~ after each /, none empty, . or .., ' +
    'without escapes and query; * for exactly one part, ** only as the last part',
  accepts: (text) => {
    if (!text.startsWith('/') || text.length > MAX_LENGTH) return false;
    const parts = partsOf(text);
    return parts.every(
      (part, index) => part === ONE || (part === REST ? index === parts.length - 1 : LITERAL_PART.test(part)),
    );
  },
};

/** Whether every path of `later` is also one of `earlier`. Both are accepted by `routePath`. */
export function covers(earlier: string, later: string): boolean {
  const [wide, narrow] = [partsOf(earlier), partsOf(later)];
  for (const [index, part] of wide.entries()) {
    const other = narrow[index];
    if (other === undefined) return false;
    if (part === REST) return true;
    if (other === REST || (part !== ONE && part !== other)) return false;
  }
  return wide.length === narrow.length;
}

function partsOf(path: string): string[] {
  return path.slice(1).split('/');
}
