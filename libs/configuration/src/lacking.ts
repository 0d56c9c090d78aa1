import { childPath } from './fault.js';
import type { UnsetVariable } from './read-yaml.js';

/** Something that a part of a configuration lacks. */
export type Lack =
  /** An environment variable that is not set. */
  | { readonly variable: string }
  /** The content of the file that this setting names. */
  | { readonly fileOf: string }
  /** This setting, which is faulty itself. */
  | { readonly setting: string };

/** A part of a configuration, or what is missing for it to be known. */
export type Part<Content> = { readonly known: Content } | { readonly lacks: readonly Lack[] };

/** A setting or section that is not known, and why. */
export interface Lacking {
  readonly path: string;
  readonly lack: Lack;
}

export const lackingVariables = (unset: readonly UnsetVariable[]): readonly Lacking[] =>
  unset.map(({ path, variable }) => ({ path, lack: { variable } }));

/** @param read returns the part at the place; only called if nothing of it is lacking */
export function part<Content>(lacking: readonly Lacking[], place: string, read: () => Content): Part<Content> {
  const lacks = lacksAt(lacking, place);
  return lacks.length === 0 ? { known: read() } : { lacks };
}

/** What is lacking at the place, inside it, or around it. */
export function lacksAt(lacking: readonly Lacking[], place: string): readonly Lack[] {
  return lacking.filter(({ path }) => isWithin(path, place) || isWithin(place, path)).map(({ lack }) => lack);
}

/** Leaves out what is lacking in these members of the place. */
export function exceptIn(lacking: readonly Lacking[], place: string, members: readonly string[]): readonly Lacking[] {
  return lacking.filter(({ path }) => !members.some((member) => isWithin(path, childPath(place, member))));
}

/** Whether a path is that of the place, or of something inside it. */
export function isWithin(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`);
}
