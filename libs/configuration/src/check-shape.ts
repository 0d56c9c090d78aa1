import { childPath, type Fault } from './fault.js';
import type { Tree } from './read-yaml.js';
import { type SettingsClass, type Shape, shapesOf } from './setting.js';

export interface ShapedTree {
  /** Only known settings, each with the structure it must have; what does not fit is left out. */
  readonly tree: Record<string, unknown>;
  readonly faults: readonly Fault[];
}

/**
 * Holds the file's structure against the settings classes: unknown settings, settings that are not supported yet, and
 * a mapping where a sequence is due. Text from a placeholder becomes a number or a flag where the setting is one: the
 * environment knows text only. Nothing else is converted, so a port in quotes stays the wrong type.
 */
export function checkShape(tree: Tree, settings: SettingsClass, placeholders: ReadonlySet<string>): ShapedTree {
  const checker = new ShapeChecker(placeholders);
  return { tree: checker.mapping(tree, settings, '') ?? {}, faults: checker.faults };
}

type Mapping = Record<string, unknown>;

class ShapeChecker {
  readonly faults: Fault[] = [];
  readonly #placeholders: ReadonlySet<string>;

  constructor(placeholders: ReadonlySet<string>) {
    this.#placeholders = placeholders;
  }

  mapping(tree: Tree, settings: SettingsClass, path: string): Mapping | undefined {
    if (!isMapping(tree)) return this.#fault(path, 'must be a mapping of settings');
    const shapes = shapesOf(settings);
    const fitted: Mapping = {};
    for (const [name, value] of Object.entries(tree)) {
      const shape = shapes.get(name);
      const at = childPath(path, name);
      if (shape === undefined) this.#fault(at, `is not a setting; known here: ${[...shapes.keys()].join(', ')}`);
      else if (value !== undefined) assignDefined(fitted, name, this.#fit(value, shape, at));
    }
    return fitted;
  }

  #fit(value: Tree, shape: Shape, path: string): unknown {
    switch (shape.kind) {
      case 'section':
        return this.mapping(value, shape.of, path);
      case 'list':
        // An item that does not fit keeps its place, so that the paths of the others stay true.
        return this.#sequence(value, path)?.map((item, i) => this.mapping(item, shape.of, childPath(path, i)) ?? {});
      case 'texts':
        return this.#sequence(value, path)?.map((item, i) => this.#item(item, shape.itemProblem, childPath(path, i)));
      case 'text':
      case 'number':
      case 'flag':
      case 'flag_or_text':
        return this.#scalar(value, shape.kind, path);
    }
  }

  #sequence(value: Tree, path: string): Tree[] | undefined {
    return Array.isArray(value) ? value : this.#fault(path, 'must be a sequence');
  }

  #item(item: Tree, problemOf: (value: unknown) => string | undefined, path: string): unknown {
    const problem = problemOf(item);
    return problem === undefined ? item : this.#fault(path, problem);
  }

  #scalar(value: Tree, kind: 'text' | 'number' | 'flag' | 'flag_or_text', path: string): unknown {
    if (typeof value === 'object') return this.#fault(path, 'must be a single value');
    if (typeof value !== 'string' || !this.#placeholders.has(path)) return value;
    if (kind === 'number') return /^(?:0|[1-9]\d{0,14})$/.test(value) ? Number(value) : value;
    if (kind === 'text') return value;
    return value === 'true' ? true : value === 'false' ? false : value;
  }

  #fault(path: string, problem: string): undefined {
    this.faults.push({ path, problem });
    return undefined;
  }
}

function isMapping(tree: Tree): tree is { [key: string]: Tree | undefined } {
  return typeof tree === 'object' && !Array.isArray(tree);
}

function assignDefined(target: Mapping, name: string, value: unknown): void {
  if (value !== undefined) target[name] = value;
}
