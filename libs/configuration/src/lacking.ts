import { childPath } from './fault.js';
import { meantSetting } from './meant-setting.js';
import type { UnsetVariable } from './read-yaml.js';
import { type SettingsClass, shapesOf } from './setting.js';

/** What a part of a configuration lacks. */
export type Lack =
  /** A variable of the environment, which is not set. */
  | { readonly variable: string }
  /** What is in the file that this setting names. */
  | { readonly fileOf: string }
  /** This setting, which is at fault itself. */
  | { readonly setting: string };

/** A part of a configuration, or what it needs and is not there. */
export type Part<Content> = { readonly known: Content } | { readonly lacks: readonly Lack[] };

/** A setting or section that is not known, and why. */
export interface Lacking {
  readonly path: string;
  readonly lack: Lack;
}

export const lackingVariables = (unset: readonly UnsetVariable[]): readonly Lacking[] =>
  unset.map(({ path, variable }) => ({ path, lack: { variable } }));

/** @param read what is at the place; asked for only when nothing of it is lacking */
export function part<Content>(lacking: readonly Lacking[], place: string, read: () => Content): Part<Content> {
  const lacks = lacksAt(lacking, place);
  return lacks.length === 0 ? { known: read() } : { lacks };
}

/** What is lacking at the place, within it, or around it. */
export function lacksAt(lacking: readonly Lacking[], place: string): readonly Lack[] {
  return lacking.filter(({ path }) => isWithin(path, place) || isWithin(place, path)).map(({ lack }) => lack);
}

/** Without what is lacking in these members of the place. */
export function exceptIn(lacking: readonly Lacking[], place: string, members: readonly string[]): readonly Lacking[] {
  return lacking.filter(({ path }) => !members.some((member) => isWithin(path, childPath(place, member))));
}

/** Whether a path is that of the place, or of something within it. */
export function isWithin(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`);
}

interface Document {
  readonly settings: SettingsClass;
  readonly isWritten: (path: string) => boolean;
}

/**
 * Adds what a setting that does not exist may have been meant for. Of a misspelt `store` the default is not what somebody wanted,
 * and no more is a gateway without the `proxy` that was written beside it.
 */
export function withWhatWasMeant(lacking: readonly Lacking[], document: Document): readonly Lacking[] {
  return lacking.flatMap(({ path, lack }) =>
    [path, ...meantBy(path, document)].map((place): Lacking => ({ path: place, lack })),
  );
}

function meantBy(path: string, { settings, isWritten }: Document): readonly string[] {
  const [, parent = '', name = ''] = /^(?:(.*)\.)?([^.]*)$/.exec(path) ?? [];
  const shapes = shapesAt(settings, parent);
  if (shapes === undefined || shapes.has(name) || name.includes('[')) return [];
  const near = meantSetting(name, [...shapes.keys()])?.name;
  return [...shapes].flatMap(([beside, shape]) => {
    const place = childPath(parent, beside);
    if (near === undefined ? !isWritten(place) : near === beside) return [place];
    return shape.kind === 'section' && shapesOf(shape.of).has(name) ? [childPath(place, name)] : [];
  });
}

/** The settings of the section at a path; undefined where there is none. */
function shapesAt(settings: SettingsClass, path: string): ReturnType<typeof shapesOf> | undefined {
  let found: SettingsClass | undefined = settings;
  for (const name of path === '' ? [] : path.replace(/\[\d+\]/g, '').split('.')) {
    found = sectionIn(found, name);
    if (found === undefined) return undefined;
  }
  return shapesOf(found);
}

function sectionIn(settings: SettingsClass, name: string): SettingsClass | undefined {
  const shape = shapesOf(settings).get(name);
  return shape?.kind === 'section' || shape?.kind === 'list' ? shape.of : undefined;
}
