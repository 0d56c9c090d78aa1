import type { ParsedYaml } from './parse-yaml.js';

/** A line that begins where it does not belong. */
export interface MisplacedLine {
  /** From 1, as in all other places. */
  readonly line: number;
  readonly column: number;
  readonly problem: string;
  /** The whole text, with this one line moved to where it fits. */
  readonly mended: string;
}

/** Where the parser fails: lines from 1, both included. */
export interface Stumble {
  readonly first: number;
  readonly last: number;
}

interface Place {
  readonly at: number;
  readonly indent: number;
  /** The last line that moves with it: the line itself, or the last line of a whole item. */
  readonly last: number;
}

/** What is parsed again to see whether a line fits. */
interface Surroundings {
  /** The lines, from 0, in order. */
  readonly kept: readonly number[];
  /** Where the parser first failed; errors above it have other causes. */
  readonly first: number;
}

/** @returns undefined if the text cannot be parsed, or the limit on parsing is reached */
export type Parse = (text: string) => ParsedYaml | undefined;

const LINES_ABOVE = 60;
const LINES_AROUND = 12;
/** Few at first: a fault further down must not hide this one, and a move that fits nothing here is tried no further. */
const LINES_BELOW = [2, 8, 40];
const MAX_SURROUNDINGS = 16_384;
export const TAB_AS_INDENTATION = 'the line is indented with a tab; use spaces';
const FITS_NOT = 'which does not fit the lines around it';
const BELONGS_ELSEWHERE = 'the line begins further to the left or right than the lines that it belongs to';

const ONE_OF = new Intl.ListFormat('en-GB', { type: 'disjunction' });
const ALL_OF = new Intl.ListFormat('en-GB', { type: 'conjunction' });

/** An item whose dash is read as part of its first name. */
const BARE_DASH = /^\s*-[A-Za-z]/;

/** A line that starts like a name, an item, or the end of brackets; any other may be part of a text. */
const BEGINS = /^\s*(?:-(?:\s|$)|[\]}]|["']?[\w.-]+["']?:(?:\s|$))/;

/**
 * Looks for the one line that, if indented differently, leaves no errors around it. The place at which the parser fails
 * does not say which: it may be that line, the one above or any below. So the parser runs again with each line moved.
 * @returns undefined if no single line is to blame
 */
export function misplacedLine(text: string, stumble: Stumble, parse: Parse): MisplacedLine | undefined {
  const lines = text.split('\n');
  const [first, last] = [stumble.first - 1, writtenFrom(lines, stumble.last - 1)];
  const named = between(first, last + 1).filter((at) => isWritten(lines[at]));
  if (named.length === 0 || !named.every((at) => isMovable(lines[at]))) return undefined;
  const from = Math.max(0, first - LINES_ABOVE);
  const open = openAbove(lines, from).reverse();
  const places = placesToTry(
    lines,
    suspects(lines, named).filter((at) => at >= from || open.includes(at)),
  );
  const fits = (tried: readonly Place[]): Place[] => {
    let fitting: Place[] = [];
    for (const below of LINES_BELOW) {
      const kept = [...open, ...between(from, Math.min(lines.length, last + 1 + below))];
      const stillFitting = (fitting.length > 0 ? fitting : tried).filter(judgeOf(lines, { kept, first }, parse));
      if (stillFitting.length > 0) fitting = stillFitting;
    }
    return fitting;
  };
  const single = fits(places);
  const fitting = single.length > 0 ? single : fits(wholeItems(lines, places));
  const mend = fitting.find(({ at }) => at === last) ?? fitting[0];
  return mend && told(lines, fitting, mend);
}

/** A pasted item is misplaced with all of its lines. */
function wholeItems(lines: readonly string[], places: readonly Place[]): Place[] {
  return places.flatMap((place) => {
    const { at } = place;
    if (!beginsItem(lines[at]) || hasTab(lines[at])) return [];
    const next = lines.findIndex((line, each) => each > at && isWritten(line) && indentOf(line) <= indentOf(lines[at]));
    const last = (next < 0 ? lines.length : next) - 1;
    return last > at ? [{ ...place, last }] : [];
  });
}

function placesToTry(lines: readonly string[], suspected: readonly number[]): Place[] {
  const from = Math.max(0, Math.min(...suspected.slice(0, 2)) - LINES_AROUND);
  const around = [...new Set([...suspected, ...between(from, Math.max(...suspected) + LINES_AROUND)])];
  return suspected
    .filter((at) => isMovable(lines[at]))
    .flatMap((at) => indentsThatMayFit(lines, at, around).map((indent) => ({ at, indent, last: at })));
}

function told(lines: readonly string[], fitting: readonly Place[], mend: Place): MisplacedLine {
  const bare = fitting.find(({ at }) => BARE_DASH.test(lines[at] ?? ''));
  if (bare !== undefined) return withSpaceAfterDash(lines, bare.at);
  const tab = fitting.find(({ at }) => hasTab(lines[at]));
  if (tab === undefined) {
    return {
      line: mend.at + 1,
      column: 1,
      problem: problemOf(lines, fitting, mend.at),
      mended: withMoved(lines, mend),
    };
  }
  const column = (lines[tab.at] ?? '').indexOf('\t') + 1;
  return { line: tab.at + 1, column, problem: TAB_AS_INDENTATION, mended: withMoved(lines, tab) };
}

function withSpaceAfterDash(lines: readonly string[], at: number): MisplacedLine {
  const line = lines[at] ?? '';
  const problem = 'a space is missing after the dash; put one there';
  return {
    line: at + 1,
    column: indentOf(line) + 1,
    problem,
    mended: lines.with(at, line.replace('-', '- ')).join('\n'),
  };
}

function problemOf(lines: readonly string[], fitting: readonly Place[], at: number): string {
  const others = [...new Set(fitting.map((place) => place.at))].filter((each) => each !== at);
  const now = `indented by ${indentOf(lines[at])}`;
  if (fitting.some((place) => place.last > at && place.at === at)) {
    return `this item is ${now}, ${FITS_NOT}; indent it by ${indentsAt(fitting, at)}, and move its other lines by as much`;
  }
  if (fitting.length === 1) return `this line is ${now}, ${FITS_NOT}; indent it by ${indentsAt(fitting, at)}`;
  const there = others.map((each) => `line ${each + 1} by ${indentOf(lines[each])}`);
  const remedies = others.map((each) => `or line ${each + 1} by ${indentsAt(fitting, each)}`);
  const remedy = [`indent it by ${indentsAt(fitting, at)}`, ...remedies].join(', ');
  return `${BELONGS_ELSEWHERE}: ${ALL_OF.format([`it is ${now}`, ...there])}; ${remedy}`;
}

function indentsAt(fitting: readonly Place[], at: number): string {
  const indents = fitting.filter((place) => place.at === at).map(({ indent }) => indent);
  return ONE_OF.format(indents.sort((left, right) => left - right).map(String));
}

/** The lines that the parser names, the line after them, and those above that are still open. */
function suspects(lines: readonly string[], named: readonly number[]): number[] {
  const [first = 0, last = 0] = [named[0], named.at(-1)];
  return [...new Set([...named, ...openAbove(lines, first), writtenFrom(lines, last + 1)])];
}

/** The first line from there on that is neither empty nor a comment; the last line if there is none. */
function writtenFrom(lines: readonly string[], from: number): number {
  const found = lines.findIndex((line, at) => at >= from && isWritten(line));
  return found < 0 ? lines.length - 1 : found;
}

/**
 * From the bottom up: the line above, and each line further up that begins further left than all those in between; the
 * name of a list may be directly above its dashes, at the same indentation.
 */
function openAbove(lines: readonly string[], below: number): number[] {
  const open: number[] = [];
  let leftmost = Infinity;
  let isItem = false;
  for (let at = below - 1; at >= 0 && (leftmost > 0 || isItem); at -= 1) {
    const indent = indentOf(lines[at]);
    const isFurtherLeft = indent < leftmost || (indent === leftmost && isItem && !beginsItem(lines[at]));
    if (!isWritten(lines[at]) || !(isFurtherLeft || opensBrackets(lines, at, below))) continue;
    leftmost = Math.min(leftmost, indent);
    isItem = beginsItem(lines[at]);
    open.push(at);
  }
  return open;
}

function beginsItem(line = ''): boolean {
  return /^\s*-(?:\s|$)/.test(line);
}

/** Closing brackets belong to the line that opens them, wherever that begins. */
function opensBrackets(lines: readonly string[], at: number, end: number): boolean {
  return /^\s*[\]}]/.test(lines[end] ?? '') && /[[{]\s*$/.test(lines[at] ?? '');
}

/** Where the surrounding lines begin, and the indents at which the first name of an item lines up with theirs. */
function indentsThatMayFit(lines: readonly string[], at: number, around: readonly number[]): number[] {
  const dashes = contentOf(lines[at]) - indentOf(lines[at]);
  const now = hasTab(lines[at]) ? undefined : indentOf(lines[at]);
  const indents = around
    .filter((each) => each !== at && isWritten(lines[each]))
    .flatMap((each) => [indentOf(lines[each]), contentOf(lines[each]), indentOf(lines[each]) - dashes]);
  return [...new Set(indents)].filter((indent) => indent >= 0 && indent !== now);
}

function judgeOf(lines: readonly string[], { kept, first }: Surroundings, parse: Parse): (place: Place) => boolean {
  return (place) => {
    const text = kept.map((at) => movedLine(lines, place, at)).join('\n');
    const parsed = text.length > MAX_SURROUNDINGS ? undefined : parse(text);
    if (parsed === undefined) return false;
    const matters = kept.indexOf(Math.min(place.at, first));
    const { document, lines: counter } = parsed;
    return [...document.errors, ...document.warnings].every(({ pos }) => counter.linePos(pos[1]).line - 1 < matters);
  };
}

function withMoved(lines: readonly string[], place: Place): string {
  return lines.map((_line, at) => movedLine(lines, place, at)).join('\n');
}

function movedLine(lines: readonly string[], place: Place, at: number): string {
  const line = lines[at] ?? '';
  if (at < place.at || at > place.last) return line;
  const indent = at === place.at ? place.indent : indentOf(line) + place.indent - indentOf(lines[place.at]);
  return `${' '.repeat(Math.max(0, indent))}${line.trimStart()}`;
}

function isMovable(line = ''): boolean {
  return isWritten(line) && (hasTab(line) || BEGINS.test(line));
}

function isWritten(line = ''): boolean {
  return /^\s*[^\s#]/.test(line);
}

function hasTab(line = ''): boolean {
  return /^ *\t/.test(line);
}

function indentOf(line = ''): number {
  return line.length - line.trimStart().length;
}

/** Where the first name begins, after the dashes of items. */
function contentOf(line = ''): number {
  return /^\s*(?:- +)*/.exec(line)?.[0].length ?? 0;
}

function between(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_each, index) => from + index);
}
