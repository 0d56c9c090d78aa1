import { isSame } from './is-same.js';

/** What a changed list has gained and lost, by name. */
export interface NamesBetween {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export function namesBetween(before: readonly string[], after: readonly string[]): NamesBetween {
  const [old, next] = [new Set(before), new Set(after)];
  return { added: [...next].filter((name) => !old.has(name)), removed: [...old].filter((name) => !next.has(name)) };
}

interface Told<One> {
  readonly nameOf: (one: One) => string;
  /** By their names in the file. Never a value. */
  readonly settingsBetween: (before: One, after: One) => readonly string[];
}

/**
 * The items that are in both lists but differ: by name, and with the settings that differ, such as `shop (required)`.
 */
export function changedBetween<One>(
  before: readonly One[],
  after: readonly One[],
  { nameOf, settingsBetween }: Told<One>,
): { readonly names: readonly string[]; readonly told: readonly string[] } {
  const old = new Map(before.map((one) => [nameOf(one), one]));
  const changed = after.flatMap((next) => {
    const known = old.get(nameOf(next));
    return known === undefined || isSame(known, next) ? [] : [{ name: nameOf(next), known, next }];
  });
  return {
    names: changed.map(({ name }) => name),
    told: changed.map(({ name, known, next }) => `${name} (${settingsBetween(known, next).join(', ')})`),
  };
}
