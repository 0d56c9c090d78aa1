import { isSame } from './is-same.js';

/** What a changed list has and lacks, by name. */
export interface NamesBetween {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export function namesBetween(before: readonly string[], after: readonly string[]): NamesBetween {
  const [old, next] = [new Set(before), new Set(after)];
  return { added: [...next].filter((name) => !old.has(name)), removed: [...old].filter((name) => !next.has(name)) };
}

/** The names of those that both lists have, and of which anything differs. */
export function changedBetween<One>(
  before: readonly One[],
  after: readonly One[],
  nameOf: (one: One) => string,
): readonly string[] {
  const old = new Map(before.map((one) => [nameOf(one), one]));
  return after.filter((one) => old.has(nameOf(one)) && !isSame(old.get(nameOf(one)), one)).map(nameOf);
}
