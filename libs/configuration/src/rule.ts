import type { Loose } from './check-settings.js';
import type { CrossFault, Fault } from './fault.js';

/**
 * A rule between settings. It sees only what is correct in itself; what is missing or wrong has already been reported.
 */
export type Rule<Settings> = (settings: Loose<Settings>) => readonly CrossFault[];

/** Combines rules for the settings at a path; each rule knows only its own part of the path. */
export function rulesAt<Settings>(path: string, rules: Readonly<Record<string, Rule<Settings>>>): Rule<Settings> {
  return (settings) =>
    faultsAt(
      path,
      Object.values(rules).flatMap((rule) => rule(settings)),
    );
}

/** The faults of the settings at a path, with that path prepended to their own. */
export function faultsAt(parent: string, faults: readonly CrossFault[]): readonly CrossFault[] {
  const at = (path: string): string => `${parent}.${path}`;
  return faults.map(({ path, problem, unlessFaulty = [] }) => ({
    path: at(path),
    problem,
    unlessFaulty: unlessFaulty.map(at),
  }));
}

export function faultIf(isWrong: boolean, path: string, problem: string): readonly Fault[] {
  return isWrong ? [{ path, problem }] : [];
}

/** A fault for each item whose key occurred before; items without a key are skipped. */
export function repeats<Item>(
  items: readonly Item[] | undefined,
  keyOf: (item: Item) => string | undefined,
  faultOf: (index: number, first: number) => Fault,
): readonly Fault[] {
  const firstOf = new Map<string, number>();
  return (items ?? []).flatMap((item, index) => {
    const key = keyOf(item);
    if (key === undefined) return [];
    const first = firstOf.get(key);
    if (first === undefined) firstOf.set(key, index);
    return first === undefined ? [] : [faultOf(index, first)];
  });
}
