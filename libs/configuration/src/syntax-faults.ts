import { type Document, type LineCounter, visit, type YAMLError } from 'yaml';
import { type Fault, WHOLE_FILE } from './fault.js';
import { type MisplacedLine, misplacedLine, TAB_AS_INDENTATION } from './misplaced-line.js';
import { nameBeforeColon } from './name-like.js';
import { type ParsedYaml, parseYaml } from './parse-yaml.js';

const COLON_INSIDE =
  'the value contains ": ", which YAML reads as a name with a value of its own; put the value in quotes, or each name on a line of its own';

/** Characters that YAML does not read as the beginning of a plain value. */
const RESERVED: Readonly<Record<string, string>> = {
  '*': '"*" refers to an anchor by its name; if it is the value itself, put it in quotes',
  '&': '"&" names an anchor; if it is the value itself, put it in quotes',
  '@': 'the value begins with "@", which YAML reserves; put the value in quotes',
  '%': 'the value begins with "%", which YAML reserves; put the value in quotes',
  '`': 'the value begins with "`", which YAML reserves; put the value in quotes',
};
const OF_A_RESERVED: ReadonlySet<string> = new Set(['BAD_ALIAS', 'BAD_SCALAR_START']);

const HINTS: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'a second document starts here; only one is read: put all of it into one',
  TAG_RESOLVE_FAILED:
    'there is a YAML tag here, and tags are not accepted: remove it or, if it is a value that begins with "!", put the value in quotes',
  TAB_AS_INDENT: TAB_AS_INDENTATION,
  BAD_INDENT:
    'the line begins further to the left or right than the lines that it belongs to, or a bracket above it is not closed; indent it as ' +
    'they are, or close the bracket',
  MISSING_CHAR: 'a closing quote or bracket is missing, or a colon with a value; add it, here or on the line before',
  BLOCK_AS_IMPLICIT_KEY: COLON_INSIDE,
  BLOCK_IN_FLOW: COLON_INSIDE,
  UNEXPECTED_TOKEN: 'something does not belong here; check brackets and quotes, here and above',
};

/** The parser's errors for a name and a value without a space between them. */
const OF_A_BARE_NAME: ReadonlySet<string> = new Set(['MULTILINE_IMPLICIT_KEY', 'MISSING_CHAR']);
const PLACEHOLDER_HINT = '"${" does not belong here; inside { } and [ ] put "${NAME}" in quotes';
const STOPPED = 'reading stopped there: fix this, and check again';

/** Parsing blocks everything else, so this allows about as much time again as the largest file takes on its own. */
const MAX_CHARACTERS_READ_AGAIN = 1_048_576;
/** Each one is a search around the line. */
const MAX_SOUGHT = 3;

/**
 * What is wrong with the file as YAML, one fault per line. A misplaced line is reported, and the rest is read as if
 * that line were in its right place. After anything else that does not belong where it is, the parser finds fault with
 * everything that follows: of that, only other placeholders without quotes are reported. The parser's own messages
 * quote the file and are not passed on.
 */
export function syntaxFaults(parsed: ParsedYaml, text: string): Fault[] {
  if (parsed.document.directives?.yaml.version !== '1.2') {
    return [{ path: WHOLE_FILE, problem: 'asks for another YAML version; remove the %YAML line' }];
  }
  const misplaced = new Map<number, FaultOfLine>();
  const again = new Rereading();
  let [current, rest] = [parsed, text];
  let found = misplacedIn(current, rest, again);
  while (found !== undefined && !misplaced.has(found.line)) {
    misplaced.set(found.line, faultOfLine(found.line, found.column, found.problem));
    const mended = again.parse(found.mended);
    if (mended === undefined) break;
    [current, rest] = [mended, found.mended];
    found = misplacedIn(current, rest, again);
  }
  const isCut = found !== undefined || (misplaced.size > 0 && again.isSpent);
  return allTold(misplaced, faultsBeside(current, rest), isCut);
}

function allTold(misplaced: ReadonlyMap<number, FaultOfLine>, beside: readonly FaultOfLine[], isCut: boolean): Fault[] {
  const end = isCut ? Math.max(...misplaced.keys()) : Infinity;
  return [...misplaced.values(), ...beside.filter(({ line }) => line < end && !misplaced.has(line))]
    .sort((left, right) => left.line - right.line)
    .map(({ line, fault }) => (line === end ? { ...fault, problem: `${fault.problem}; ${STOPPED}` } : fault));
}

/** Parses texts as long as that does not take too long altogether. */
class Rereading {
  #left = MAX_CHARACTERS_READ_AGAIN;

  get isSpent(): boolean {
    return this.#left <= 0;
  }

  readonly parse = (text: string): ParsedYaml | undefined => {
    if (this.isSpent) return undefined;
    this.#left -= text.length;
    return parseYaml(text);
  };
}

interface FaultOfLine {
  readonly line: number;
  readonly fault: Fault;
}

function faultOfLine(line: number, column: number, problem: string): FaultOfLine {
  return { line, fault: { path: WHOLE_FILE, problem: `line ${line}, column ${column}: ${problem}` } };
}

function inOrder({ document }: ParsedYaml): YAMLError[] {
  return [...document.errors, ...document.warnings].sort((left, right) => left.pos[0] - right.pos[0]);
}

function misplacedIn(parsed: ParsedYaml, text: string, { parse }: Rereading): MisplacedLine | undefined {
  const errors = inOrder(parsed);
  const quote = openQuote(parsed.document, errors) ?? Infinity;
  const sought = new Set<number>();
  for (const error of errors) {
    const [start, end] = error.pos;
    const first = parsed.lines.linePos(start).line;
    if (start >= quote || sought.size === MAX_SOUGHT) return undefined;
    if (sought.has(first)) continue;
    sought.add(first);
    const found = misplacedLine(text, { first, last: parsed.lines.linePos(end).line }, parse);
    if (found === undefined) continue;
    const tooFar = indentedTooFar(error, errors, text);
    const { line, col } = parsed.lines.linePos(tooFar?.at ?? start);
    return tooFar !== undefined && line === found.line ? { ...found, column: col, problem: tooFar.hint } : found;
  }
  return undefined;
}

function faultsBeside(parsed: ParsedYaml, text: string): FaultOfLine[] {
  const { document, lines } = parsed;
  const found = inOrder(parsed);
  const quote = openQuote(document, found);
  if (quote === undefined) return faultsOf(found, text, lines);
  const before = found.filter(({ pos }) => pos[0] < quote);
  const { line, col } = lines.linePos(quote);
  const which = text[quote] === '"' ? 'double' : 'single';
  const problem = `a ${which} quote opens here and is never closed; close it after the value`;
  return [...faultsOf(before, text, lines), faultOfLine(line, col, problem)];
}

function faultsOf(errors: readonly YAMLError[], text: string, lines: LineCounter): FaultOfLine[] {
  const stop = errors.findIndex(({ code }) => code === 'UNEXPECTED_TOKEN');
  const told = stop < 0 ? errors : errors.filter((each, at) => at <= stop || isBarePlaceholder(each, text));
  const isCut = told.length < errors.length;
  const faults = new Map<number, FaultOfLine>();
  for (const error of told) {
    const tooFar = indentedTooFar(error, errors, text);
    const { line, col } = lines.linePos(tooFar?.at ?? error.pos[0]);
    const stopped = isCut && error === errors[stop] ? `; ${STOPPED}` : '';
    const problem = `${tooFar?.hint ?? hintOf(error, text)}${stopped}`;
    if (!faults.has(line)) faults.set(line, faultOfLine(line, col, problem));
  }
  return [...faults.values()];
}

/** Where an unclosed quote opens: the parser only names the end of the file, up to which it has read. */
function openQuote(document: Document, errors: readonly YAMLError[]): number | undefined {
  const missing = errors.find(({ code, message }) => code === 'MISSING_CHAR' && /^Missing closing ["']/.test(message));
  if (missing === undefined) return undefined;
  const [end] = missing.pos;
  let start: number | undefined;
  visit(document, {
    Scalar: (_key, { type, range }) => {
      const isQuoted = type === 'QUOTE_DOUBLE' || type === 'QUOTE_SINGLE';
      if (isQuoted && range && range[0] < end && range[1] >= end) start = range[0];
    },
  });
  return start;
}

interface Indented {
  readonly at: number;
  readonly hint: string;
}

/**
 * A name indented further than the one above is read as a continuation of the value above, and the parser blames that
 * one.
 */
function indentedTooFar(error: YAMLError, errors: readonly YAMLError[], text: string): Indented | undefined {
  const whole = errors.find(({ code, pos }) => code === 'MULTILINE_IMPLICIT_KEY' && pos[0] === error.pos[0]);
  if (whole === undefined) return undefined;
  const [start, end] = whole.pos;
  const lineAt = text.lastIndexOf('\n', end - 1) + 1;
  const ours = /^( +)[^\s:]+$/.exec(text.slice(lineAt, end))?.[1];
  if (ours === undefined || lineAt <= start) return undefined;
  const above = /^(?: |- )*/.exec(text.slice(text.lastIndexOf('\n', start - 1) + 1, start))?.[0] ?? '';
  if (ours.length <= above.length) return undefined;
  return {
    at: lineAt + ours.length,
    hint: `this name is indented by ${ours.length} and the one above it by ${above.length}; indent both alike`,
  };
}

function hintOf(error: YAMLError, text: string): string {
  const { code, pos } = error;
  const rest = text.slice(pos[0], pos[0] + 100).split('\n')[0] ?? '';
  if (isBarePlaceholder(error, text)) return PLACEHOLDER_HINT;
  const name = OF_A_BARE_NAME.has(code) ? nameBeforeColon(rest) : undefined;
  if (name !== undefined) return `a space is missing after "${name}:"; put one there`;
  const reserved = OF_A_RESERVED.has(code) ? RESERVED[text.charAt(pos[0])] : undefined;
  if (reserved !== undefined) return reserved;
  return HINTS[code] ?? 'this is not valid YAML; check indentation, quotes and brackets, here and above';
}

/**
 * In flow collections, YAML reads the `{` of a placeholder as the start of a mapping: one that does not belong there
 * or, in a list, the next item.
 */
function isBarePlaceholder({ code, pos: [offset] }: YAMLError, text: string): boolean {
  return (code === 'UNEXPECTED_TOKEN' || code === 'MISSING_CHAR') && text.slice(offset - 1, offset + 1) === '${';
}
