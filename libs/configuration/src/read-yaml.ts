import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { YAMLMap } from 'yaml';
import { childPath, type Fault, type Places, WHOLE_FILE } from './fault.js';
import { type Environment, interpolate } from './interpolate.js';

export const MAX_FILE_BYTES = 1_048_576;
const MAX_DEPTH = 16;
const MAX_TEXT_LENGTH = 8_192;
/** In characters, with every alias and variable in its place. A value counts for its text, and as much as this. */
const MAX_SIZE = 4 * MAX_FILE_BYTES;
const SIZE_OF_VALUE = 50;

/** A value of the file: text, number, flag, or mappings and sequences of them. No other type leaves this module. */
export type Tree = string | number | boolean | Tree[] | { [key: string]: Tree | undefined } | undefined;

export interface YamlContent {
  readonly tree: Tree;
  /** Paths of values that consist of exactly one placeholder: text that may stand for a number or a flag. */
  readonly placeholders: ReadonlySet<string>;
  readonly places: Places;
  readonly faults: readonly Fault[];
  /** Values that need a variable that is not set; each is also among the faults. */
  readonly unset: readonly UnsetVariable[];
}

/** A value that could not be checked, and why. */
export interface UnsetVariable extends Fault {
  readonly variable: string;
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
  const syntax = syntaxFault(document, lines, text);
  if (syntax !== undefined) return refused(syntax);
  const { contents } = document;
  if (!isMap(contents)) return refused('must be a YAML mapping with the settings at its top level');
  const reader = new TreeReader(lines, environment);
  const tree = reader.read(contents, '', 0);
  return { tree, placeholders: reader.placeholders, places: reader.places, faults: reader.faults, unset: reader.unset };
}

function refused(problem: string): YamlContent {
  const faults = [{ path: WHOLE_FILE, problem }];
  return { tree: undefined, placeholders: new Set(), places: new Map(), faults, unset: [] };
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

/** In brackets, its brace opens a mapping. */
const BARE_PLACEHOLDER = '"${" does not belong here; inside { } and [ ] put "${NAME}" in quotes';

/**
 * The parser's first error, with its own position and code: those after it mostly follow from it, and its messages
 * quote the file.
 */
function syntaxFault(document: Document, lines: LineCounter, text: string): string | undefined {
  if (document.directives?.yaml.version !== '1.2') return 'asks for another YAML version; remove the %YAML line';
  const [first] = [...document.errors, ...document.warnings].sort((a, b) => a.pos[0] - b.pos[0]);
  if (first === undefined) return undefined;
  const [offset] = first.pos;
  const { line, col } = lines.linePos(offset);
  const isBare = text.slice(offset - 1, offset + 1) === '${';
  const what = isBare ? BARE_PLACEHOLDER : `not valid YAML (${first.code}); check indentation, quotes and brackets`;
  return `line ${line}, column ${col}: ${what}`;
}

/** A key of any other form is not repeated in a fault: a token or a UUID may have ended up in its place. */
function isNameLike(key: string): boolean {
  return key.length <= 40 && /^[A-Za-z](?:[_-]?[A-Za-z])*\d{0,4}$/.test(key);
}

/** Turns the parsed nodes into plain values; everything that YAML can express but a setting cannot be is a fault. */
class TreeReader {
  readonly faults: Fault[] = [];
  readonly unset: UnsetVariable[] = [];
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
    if (isMap(node)) return this.#readMap(node, path, depth);
    if (isSeq(node))
      return node.items.map((item, index) => this.read(item, this.#placed(childPath(path, index), item), depth + 1));
    return this.#readScalar(isScalar(node) ? node.value : undefined, path);
  }

  #readMap(node: YAMLMap, path: string, depth: number): Tree {
    const tree: { [key: string]: Tree | undefined } = {};
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? key.value : undefined;
      if (typeof name !== 'string' || !isNameLike(name)) {
        this.#fault(this.#placed(childPath(path, '(key)'), key), 'is not the name of a setting');
      } else if (Object.hasOwn(tree, name)) {
        const { line, col } = this.#lines.linePos((isNode(key) ? key.range?.[0] : undefined) ?? 0);
        const again = `again in line ${line}, column ${col}`;
        this.#fault(childPath(path, name), `is given more than once, ${again}; keep one of them`);
      } else if (name in Object.prototype) {
        this.#fault(this.#placed(childPath(path, name), key), 'is not a setting');
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
    if (result.kind === 'unset')
      this.unset.push(...result.variables.map((variable) => ({ path, problem: result.problem, variable })));
    if (result.kind !== 'text') return this.#fault(path, result.problem);
    this.#size += result.text.length;
    if (result.text.length > MAX_TEXT_LENGTH) return this.#fault(path, `is longer than ${MAX_TEXT_LENGTH} characters`);
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
