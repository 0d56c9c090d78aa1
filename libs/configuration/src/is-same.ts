import { isDeepStrictEqual } from 'node:util';

/** Whether two parts of a configuration are equal. Keys are compared by their public halves. */
export function isSame(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(one, other);
}
