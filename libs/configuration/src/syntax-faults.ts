import { type Document, type LineCounter, visit, type YAMLError } from 'yaml';
import { type Fault, WHOLE_FILE } from './fault.js';
import { nameBeforeColon } from './name-like.js';

const HINTS: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'a second document starts here; only one is read: put all of it into one',
  TAG_RESOLVE_FAILED: 'a YAML tag stands here; tags are not accepted: remove it',
  TAB_AS_INDENT: 'a tab stands where the line is indented; put spaces there',
  BAD_INDENT:
    'the line begins further to the left or right than the lines that it belongs to, or a bracket above it is not closed; indent it as ' +
    'they are, or close the bracket',
  MISSING_CHAR: 'a closing quote or bracket is missing, or a colon with a value; add it, here or on the line before',
  BAD_SCALAR_START: 'the value begins with a character that YAML reserves; put the value in quotes',
  UNEXPECTED_TOKEN: 'something does not belong here; check brackets and quotes, here and above',
};

/** What the parser says of a name and a value without a space between them. */
const OF_A_BARE_NAME: ReadonlySet<string> = new Set(['MULTILINE_IMPLICIT_KEY', 'MISSING_CHAR']);
const PLACEHOLDER_HINT = '"${" does not belong here; inside { } and [ ] put "${NAME}" in quotes';
const STOPPED = 'reading stopped there: mend this, and check again';

/**
 * What is wrong with the file as YAML, one fault a line. After something that does not belong where it is, the parser
 * finds fault with all that follows: of that only other placeholders without quotes are told. The parser's own messages
 * quote the file and are not passed on.
 */
export function syntaxFaults(document: Document, text: string, lines: LineCounter): Fault[] {
  if (document.directives?.yaml.version !== '1.2') {
    return [{ path: WHOLE_FILE, problem: 'asks for another YAML version; remove the %YAML line' }];
  }
  const found = [...document.errors, ...document.warnings].sort((left, right) => left.pos[0] - right.pos[0]);
  const quote = openQuote(document, found);
  if (quote === undefined) return faultsOf(found, text, lines);
  const before = found.filter(({ pos }) => pos[0] < quote);
  const { line, col } = lines.linePos(quote);
  const which = text[quote] === '"' ? 'double' : 'single';
  const problem = `line ${line}, column ${col}: a ${which} quote opens here and is closed nowhere; close it behind the value`;
  return [...faultsOf(before, text, lines), { path: WHOLE_FILE, problem }];
}

function faultsOf(errors: readonly YAMLError[], text: string, lines: LineCounter): Fault[] {
  const stop = errors.findIndex(({ code }) => code === 'UNEXPECTED_TOKEN');
  const told = stop < 0 ? errors : errors.filter((each, at) => at <= stop || isBarePlaceholder(each, text));
  const isCut = told.length < errors.length;
  const faults = new Map<number, Fault>();
  for (const error of told) {
    const tooFar = indentedTooFar(error, errors, text);
    const { line, col } = lines.linePos(tooFar?.at ?? error.pos[0]);
    const problem = `line ${line}, column ${col}: ${tooFar?.hint ?? hintOf(error, text)}`;
    const stopped = isCut && error === errors[stop] ? `; ${STOPPED}` : '';
    if (!faults.has(line)) faults.set(line, { path: WHOLE_FILE, problem: `${problem}${stopped}` });
  }
  return [...faults.values()];
}

/** Where the quote opens that is closed nowhere: the parser names the end of the file, up to which it has read. */
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
 * A name that stands further to the right than the one above is taken for more of the value above, and the parser blames
 * that one.
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
  const name = OF_A_BARE_NAME.has(code) ? nameBeforeColon(rest) : undefined;
  if (name !== undefined) return `a space is missing after "${name}:"; put one there`;
  if (isBarePlaceholder(error, text)) return PLACEHOLDER_HINT;
  return HINTS[code] ?? 'this is not valid YAML; check indentation, quotes and brackets, here and above';
}

/** Between brackets YAML takes the `{` of a placeholder for the start of a mapping. */
function isBarePlaceholder({ code, pos: [offset] }: YAMLError, text: string): boolean {
  return code === 'UNEXPECTED_TOKEN' && text.slice(offset - 1, offset + 1) === '${';
}
