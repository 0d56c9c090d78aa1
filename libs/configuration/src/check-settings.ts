import { childPath, type Fault } from './fault.js';
import type { FileSetting } from './named-files.js';
import type { Tree } from './read-yaml.js';
import type { Fields, Shape, Values } from './setting.js';
import type { Single } from './value-rule.js';

/** Every member may be missing, at any depth: what is there is correct in itself, and what was wrong is left out. */
export type Loose<T> = T extends Single
  ? T
  : T extends readonly (infer Item)[]
    ? readonly (Loose<Item> | undefined)[]
    : { readonly [Key in keyof T]?: Loose<T[Key]> | undefined };

/**
 * Checks the file's content against the declarations: unknown settings, a mapping where a sequence is required, and
 * each value by its own rule. Text from a placeholder becomes a number or a flag if the setting is one, because the
 * environment only holds text. No other type is converted, so a port in quotes stays the wrong type.
 * @returns the settings, complete with every default when there are no faults, and the files that correct ones name
 */
export function checkSettings<F extends Fields>(
  tree: Tree,
  fields: F,
  placeholders: ReadonlySet<string> = new Set(),
): { readonly settings: Loose<Values<F>>; readonly files: readonly FileSetting[]; readonly faults: readonly Fault[] } {
  const checker = new SettingsChecker(placeholders);
  const settings = (checker.section(tree, fields, '') ?? {}) as Loose<Values<F>>;
  return { settings, files: checker.files, faults: checker.faults };
}

/** Settings that a file may still have, and why there is nothing in their place. */
const GIVEN_UP: Readonly<Record<string, string>> = {
  'store.onStoreOutage':
    'is given up: in an outage of the store, what is held is served until it ends, and nothing is created; remove it',
};

/** The name of a setting in the file, by that of its option. */
export const nameInFile = (option: string): string => option.replace(/Ms$/, '');

class SettingsChecker {
  readonly faults: Fault[] = [];
  readonly files: FileSetting[] = [];
  readonly #placeholders: ReadonlySet<string>;

  constructor(placeholders: ReadonlySet<string>) {
    this.#placeholders = placeholders;
  }

  section(tree: Tree, fields: Fields, path: string): object | undefined {
    if (typeof tree !== 'object' || Array.isArray(tree)) return this.#fault(path, 'must be a mapping of settings');
    const misspelt = this.#unknown(tree, Object.keys(fields).map(nameInFile), path);
    const found = Object.entries(fields).map(([option, { shape }]): [string, unknown] => {
      const name = nameInFile(option);
      const at = childPath(path, name);
      if (Object.hasOwn(tree, name)) return [option, this.#given(tree[name], shape, at)];
      if (shape.isOptional !== true && shape.byDefault === undefined && !misspelt.has(name)) this.#missing(shape, at);
      return [option, this.#given(shape.byDefault, shape, at)];
    });
    return Object.fromEntries(found.filter(([, value]) => value !== undefined));
  }

  /** @returns the settings that were probably meant: they are not missing as well */
  #unknown(tree: object, known: readonly string[], path: string): ReadonlySet<string | undefined> {
    const unknown = Object.keys(tree).filter((name) => !known.includes(name));
    return new Set(
      unknown.map((name) => {
        const meant = nearestName(name, known) ?? known.find((each) => each === `${name}File`);
        const advice = meant === undefined ? '' : ` did you mean ${meant}?`;
        const at = childPath(path, name);
        this.#fault(at, GIVEN_UP[at] ?? `is not a setting;${advice} known here: ${known.join(', ')}`);
        return meant;
      }),
    );
  }

  #missing(shape: Shape, path: string): void {
    const isValue = 'allowed' in shape && shape.kind !== 'texts';
    this.#fault(path, isValue ? `is missing: it must be ${shape.allowed}` : 'is missing');
  }

  /** @param value undefined if there is none, or the reader has already reported what could not be read */
  #given(value: Tree, shape: Shape, path: string): unknown {
    if (value === undefined) return undefined;
    if (shape.kind === 'section') return this.section(value, shape.of, path);
    if (shape.kind === 'list' || shape.kind === 'texts') return this.#items(value, shape, path);
    return typeof value === 'object' ? this.#fault(path, 'must be a single value') : this.#checked(value, shape, path);
  }

  /** An item that does not fit keeps its place, so that the paths of the others stay correct. */
  #items(value: Tree, shape: Extract<Shape, { readonly least: number }>, path: string): unknown {
    if (!Array.isArray(value)) return this.#fault(path, 'must be a sequence');
    if (value.length < shape.least) return this.#fault(path, `must have at least ${shape.least} item`);
    const most = shape.kind === 'list' ? shape.most : Infinity;
    if (value.length > most) return this.#fault(path, `must have at most ${most} items`);
    return value.map((item, index) => {
      const at = childPath(path, index);
      if (item === undefined) return undefined;
      return shape.kind === 'list' ? this.section(item, shape.of, at) : this.#checked(item, shape, at);
    });
  }

  #checked(given: Tree, shape: Extract<Shape, { readonly allowed: string }>, path: string): unknown {
    const { kind, problemOf, rule } = shape;
    const value = this.#placeholders.has(path) ? fromEnvironment(given, kind) : given;
    const problem = problemOf(value);
    if (problem !== undefined) return this.#fault(path, problem);
    if (typeof value !== 'string' || rule === undefined) return value;
    if (rule.content !== undefined) this.files.push({ path, file: value, rule: rule.content });
    return rule.read(value);
  }

  #fault(path: string, problem: string): undefined {
    this.faults.push({ path, problem });
    return undefined;
  }
}

function fromEnvironment(value: Tree, kind: Shape['kind']): Tree {
  if (typeof value !== 'string') return value;
  if (kind === 'number') return /^(?:0|[1-9]\d{0,14})$/.test(value) ? Number(value) : value;
  const isFlag = (kind === 'flag' || kind === 'flag or text') && /^(?:true|false)$/.test(value);
  return isFlag ? value === 'true' : value;
}

/**
 * The name that was probably meant: the same but for one or two typing errors. With more, nobody knows. The result is
 * always one of the names, and reveals about the text only that it looks like that name.
 */
export function nearestName(text: string, names: readonly string[]): string | undefined {
  const near = [0, 1, 2].map((slips) => names.find((name) => isNear(plain(text), plain(name), slips)));
  return near.find((name) => name !== undefined);
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[\s_-]/g, '_');

/** Whether so many characters at most were added, left out or replaced. */
function isNear(text: string, name: string, slips: number): boolean {
  if (text === name || slips === 0) return text === name;
  const same = [...text].findIndex((character, at) => character !== name[at]);
  const [rest, meant] = same < 0 ? ['', name.slice(text.length)] : [text.slice(same), name.slice(same)];
  const pairs = [
    [rest.slice(1), meant],
    [rest, meant.slice(1)],
    [rest.slice(1), meant.slice(1)],
  ] as const;
  return pairs.some(([one, other]) => isNear(one, other, slips - 1));
}
