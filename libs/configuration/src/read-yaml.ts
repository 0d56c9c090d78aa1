import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { YAMLMap } from 'yaml';
import { childPath, type Fault, type Places, WHOLE_FILE } from './fault.js';

export const MAX_FILE_BYTES = 1_048_576;
const MAX_DEPTH = 16;
/** In characters, with every alias and variable in its place. A value counts for its text, and as much as this. */
const MAX_SIZE = 4 * MAX_FILE_BYTES;
const SIZE_OF_VALUE = 50;

/** A value of the file: text, number, flag, or mappings and sequences of them. No other type leaves this module. */
export type Tree = string | number | boolean | Tree[] | { [key: string]: Tree | undefined } | undefined;

export interface YamlContent {
  /** Undefined if the file is not YAML, or no mapping. */
  readonly tree: Exclude<Tree, string | number | boolean | Tree[]>;
  /** Paths of values that consist of exactly one placeholder: text that may stand for a number or a flag. */
  readonly placeholders: ReadonlySet<string>;
  readonly places: Places;
  readonly faults: readonly Fault[];
}

/**
 * Reads strict YAML 1.2, core schema: one document, no tags, no merge keys, no repeated keys, only text as keys; size,
 * depth, number of values and aliases are bounded. Placeholders are filled from the environment after parsing, so that
 * nothing in a variable can become structure. The parser's own messages quote the file and are not passed on.
 */
export function readYaml(text: string, environment: Environment): YamlContent {
  if (Buffer.byteLength(text) > MAX_FILE_BYTES) return refused('is larger than 1 MiB');
  const lines = new LineCounter();
  const document = parsed(text, lines);
  if (document === undefined) return refused('is nested too deeply to be read');
  const syntax = syntaxFault(document, lines);
  if (syntax !== undefined) return refused(syntax);
  const { contents } = document;
  if (!isMap(contents)) return refused('must be a YAML mapping with the settings at its top level');
  const reader = new TreeReader(lines, environment);
  const tree = reader.readMap(contents, '', 0);
  return { tree, placeholders: reader.placeholders, places: reader.places, faults: reader.faults };
}

function refused(problem: string): YamlContent {
  const faults = [{ path: WHOLE_FILE, problem }];
  return { tree: undefined, placeholders: new Set(), places: new Map(), faults };
}

/** @returns undefined if it is nested too deeply to be read */
function parsed(text: string, lineCounter: LineCounter): Document | undefined {
  try {
    // Repeated keys are detected elsewhere, since the parser's own check compares every key with every other.
    const checks = { strict: true, uniqueKeys: false, merge: false, schema: 'core', resolveKnownTags: false } as const;
    return parseDocument(text, { ...checks, prettyErrors: false, logLevel: 'error', lineCounter, version: '1.2' });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * The parser's first error, with its own position and code: those after it mostly follow from it, and its messages
 * quote the file.
 */
function syntaxFault(document: Document, lines: LineCounter): string | undefined {
  if (document.directives?.yaml.version !== '1.2') return 'asks for another YAML version; remove the %YAML line';
  const [first] = [...document.errors, ...document.warnings].sort((a, b) => a.pos[0] - b.pos[0]);
  if (first === undefined) return undefined;
  const { line, col } = lines.linePos(first.pos[0]);
  return `line ${line}, column ${col}: not valid YAML (${first.code}); check indentation, quotes and brackets`;
}

/** A key of any other form is not repeated in a fault: a token or a UUID may have ended up in its place. */
function isNameLike(key: string): boolean {
  return key.length <= 40 && /^[A-Za-z](?:[_-]?[A-Za-z])*\d{0,4}$/.test(key) && !(key in Object.prototype);
}

/** Turns the parsed nodes into plain values; everything that YAML can express but a setting cannot be is a fault. */
class TreeReader {
  readonly faults: Fault[] = [];
  readonly placeholders = new Set<string>();
  readonly places = new Map<string, { readonly order: number; readonly line: number | undefined }>();
  readonly #environment: Environment;
  readonly #lines: LineCounter;
  readonly #anchors = new Map<string, Node>();
  #size = 0;

  constructor(lines: LineCounter, environment: Environment) {
    this.#environment = environment;
    this.#lines = lines;
  }

  read(node: unknown, path: string, depth: number): Tree {
    this.#size += SIZE_OF_VALUE;
    if (this.#size > MAX_SIZE) return this.#fault(WHOLE_FILE, 'holds more than a configuration can');
    if (depth > MAX_DEPTH) return this.#fault(path, 'is nested too deeply');
    if (isAlias(node)) {
      const target = this.#anchors.get(node.source);
      if (target === undefined) return this.#fault(path, 'is an alias of an anchor that is not defined above it');
      return this.read(target, path, depth + 1);
    }
    if (isNode(node) && node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (isMap(node)) return this.readMap(node, path, depth);
    if (isSeq(node))
      return node.items.map((item, index) => this.read(item, this.#placed(childPath(path, index), item), depth + 1));
    return this.#readScalar(isScalar(node) ? node.value : undefined, path);
  }

  readMap(node: YAMLMap, path: string, depth: number): YamlContent['tree'] {
    const tree: { [key: string]: Tree | undefined } = {};
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? key.value : undefined;
      if (typeof name !== 'string' || !isNameLike(name)) {
        this.#fault(this.#placed(childPath(path, '(key)'), key), 'is not the name of a setting');
      } else if (Object.hasOwn(tree, name)) {
        this.#fault(childPath(path, name), 'is given more than once; keep one of them');
      } else {
        tree[name] = this.read(value, this.#placed(childPath(path, name), key), depth + 1);
      }
    }
    return tree;
  }

  #readScalar(value: unknown, path: string): Tree {
    if (value === null || value === undefined) return this.#fault(path, 'has no value; give one or remove the line');
    if (typeof value === 'boolean') return value;
    if (typeof value === 'number') return Number.isFinite(value) ? value : this.#fault(path, 'is not a finite number');
    return typeof value === 'string' ? this.#readText(value, path) : this.#fault(path, 'has an unsupported type');
  }

  #readText(value: string, path: string): Tree {
    const result = interpolate(value, this.#environment);
    if (result.kind === 'fault') {
      const { problem, variable } = result;
      this.faults.push({ path, problem, ...(variable !== undefined && { variable }) });
      return undefined;
    }
    this.#size += result.text.length;
    if (result.wholePlaceholder) this.placeholders.add(path);
    return result.text;
  }

  /** Records where a path is: at its name, or at the start of the item. @returns the path */
  #placed(path: string, node: unknown): string {
    const offset = isNode(node) ? node.range?.[0] : undefined;
    const line = offset === undefined ? undefined : this.#lines.linePos(offset).line;
    this.places.set(path, { order: this.places.size, line });
    return path;
  }

  #fault(path: string, problem: string): undefined {
    this.faults.push({ path, problem });
    return undefined;
  }
}

/** Where `${NAME}` is taken from: `process.env`, or a map in a test. */
export type Environment = Readonly<Record<string, string | undefined>>;

type Interpolation =
  | { readonly kind: 'text'; readonly text: string; readonly wholePlaceholder: boolean }
  | { readonly kind: 'fault'; readonly problem: string; readonly variable?: string };

const PLACEHOLDER = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]{0,127})(?::-([^}]*))?\}|\$\{/g;

/**
 * Replaces `${NAME}` and `${NAME:-default}` by the environment's values; the default also replaces a variable that is
 * empty. `$${` is a literal `${`. The value of a variable is never searched for placeholders again.
 */
export function interpolate(text: string, environment: Environment): Interpolation {
  let problem: string | undefined;
  const unset = new Set<string>();
  const result = text.replace(PLACEHOLDER, (match, name: string | undefined, fallback: string | undefined) => {
    if (match === '$${') return '${';
    if (name === undefined) {
      problem = 'has a "${" that starts neither ${NAME} nor ${NAME:-default}; write $${ for a literal one';
      return '';
    }
    // Own members only: ${constructor} must not find what every object inherits.
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (fallback !== undefined) return value === undefined || value === '' ? fallback : value;
    if (value === undefined) unset.add(name);
    return value ?? '';
  });
  if (problem !== undefined) return { kind: 'fault', problem };
  const variable = [...unset].join(', ');
  const [ending, are] = unset.size === 1 ? ['', 'is'] : ['s', 'are'];
  // Suggests no default: most values from the environment are secrets, and the default would be in the file.
  const missing = `needs the environment variable${ending} ${variable}, which ${are} not set`;
  if (variable !== '') return { kind: 'fault', variable, problem: missing };
  return { kind: 'text', text: result, wholePlaceholder: /^\$\{[^}]*\}$/.test(text) };
}
