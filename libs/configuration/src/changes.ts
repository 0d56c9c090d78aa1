import { isDeepStrictEqual } from 'node:util';
import { someOf } from '#libs/errors';
import { nameInFile } from './check-settings.js';
import { childPath, ConfigurationError } from './fault.js';

/** Whether two parts of a configuration are equal. Keys are compared by their public halves. */
export function isSame(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(one, other);
}

/**
 * The settings that differ, such as `auth.policies`, by their names in the file (`every` for `everyMs`): those of one
 * section, or of the whole file if none is given. Never a value.
 */
export function differingSettings(section: string, before: object, after: object): readonly string[] {
  const [old, next] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  const names = new Set([...old.keys(), ...next.keys()]);
  return [...names]
    .filter((name) => !isSame(old.get(name), next.get(name)))
    .map((name) => childPath(section, nameInFile(name)));
}

/** What a changed list has gained and lost, by name. */
export interface NamesBetween {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export function namesBetween(before: readonly string[], after: readonly string[]): NamesBetween {
  const without = (names: readonly string[], others: Set<string>): string[] =>
    [...new Set(names)].filter((name) => !others.has(name));
  return { added: without(after, new Set(before)), removed: without(before, new Set(after)) };
}

interface Told<One> {
  readonly nameOf: (one: One) => string;
  /** By their names in the file. Never a value. */
  readonly settingsBetween: (before: One, after: One) => readonly string[];
}

/** The items that are in both lists but differ: by name, and with the settings that differ: `shop (required)`. */
export function changedBetween<One>(
  before: readonly One[],
  after: readonly One[],
  { nameOf, settingsBetween }: Told<One>,
): { readonly names: readonly string[]; readonly told: readonly string[] } {
  const old = new Map(before.map((one) => [nameOf(one), one]));
  const changed = after.flatMap((next) => {
    const known = old.get(nameOf(next));
    if (known === undefined || isSame(known, next)) return [];
    return [{ name: nameOf(next), told: `${nameOf(next)} (${settingsBetween(known, next).join(', ')})` }];
  });
  return { names: changed.map(({ name }) => name), told: changed.map(({ told }) => told) };
}

/** From this many on, more than half of them are not removed at once. */
const MANY = 4;
/** In one sentence. */
const MAX_NAMED = 5;

/** The names in the list at a path, in force and in the changed configuration. */
interface ChangedList {
  readonly path: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly maxRemoved: number;
}

/**
 * A file that ends too early has no faults if it is cut off between two items of its last list.
 * @throws ConfigurationError
 */
export function assertFewRemoved({ path, before, after, maxRemoved }: ChangedList): void {
  const { removed } = namesBetween(before, after);
  const isMost = before.length >= MANY && removed.length * 2 > before.length;
  if (removed.length <= maxRemoved && !isMost) return;
  const bound =
    removed.length > maxRemoved
      ? `more than reload.maxRemoved allows (${maxRemoved})`
      : `more than half of ${before.length}`;
  const problem = `lacks ${removed.length} of those in force, ${bound}: ${someOf(removed, MAX_NAMED)}; is the file complete? If it is, remove fewer at a time`;
  throw new ConfigurationError([{ path, problem }]);
}
