import { isDeepStrictEqual } from 'node:util';

/** Whether a store under test answered as the specification does. */
export function sameAnswers(tested: unknown, specified: unknown): boolean {
  return isDeepStrictEqual(tested, specified);
}
