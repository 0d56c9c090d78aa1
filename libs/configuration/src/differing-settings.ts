import { childPath } from './fault.js';
import { isSame } from './is-same.js';

/**
 * The settings that differ, such as `auth.policies`, by their names in the file (`every` for `everyMs`): those of one
 * section, or of the whole file if none is given. Never a value.
 */
export function differingSettings(section: string, before: object, after: object): readonly string[] {
  const [old, next] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  const names = new Set([...old.keys(), ...next.keys()]);
  return [...names]
    .filter((name) => !isSame(old.get(name), next.get(name)))
    .map((name) => childPath(section, name.replace(/Ms$/, '')));
}
