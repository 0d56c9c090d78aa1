import { styleText } from 'node:util';
import type { Clock } from '#libs/clock';

/** Where a command's output goes: tests read it, `main.ts` connects it to the process. */
export interface Terminal {
  /** One line, or several joined by line feeds, to standard output: the answer. */
  out(text: string): void;
  /** The same to standard error: faults, warnings, and progress. */
  err(text: string): void;
  /**
   * One line on standard error that replaces the previous one; an empty text erases it. Absent if nobody is watching.
   */
  progress?(text: string): void;
  /** Whether standard output may have colours. */
  readonly hasColours?: boolean;
}

export type Tone = 'red' | 'yellow' | 'blue' | 'green';

export interface Cell {
  readonly text: string;
  readonly tone?: Tone;
}

/** A text, or its parts with their colours. */
export type Line = string | readonly Cell[];

/** What may be printed by whoever answers a command, such as a server that is not ours, does nothing but be seen. */
export interface CleanTerminal extends Terminal {
  /** Lines to standard output, in colours if it may have any. */
  lines(lines: readonly Line[]): void;
}

/** Escape sequences, carriage returns and the like, and what changes the direction of writing. */
const CONTROLS = /[^\P{Cc}\n\t]|\p{Bidi_Control}/gu;
const SHOWN_INSTEAD = '\uFFFD';

const cleaned = (text: string): string => text.replaceAll(CONTROLS, SHOWN_INSTEAD);

/** The one place where a text becomes output: nothing reaches the terminal but by it. */
export function cleanTerminal(terminal: Terminal): CleanTerminal {
  const { hasColours = false } = terminal;
  const shown = ({ text, tone }: Cell): string =>
    hasColours && tone !== undefined ? styleText(tone, cleaned(text), { validateStream: false }) : cleaned(text);
  const lineText = (line: Line): string => (typeof line === 'string' ? cleaned(line) : line.map(shown).join(''));
  return {
    out: (text) => terminal.out(cleaned(text)),
    err: (text) => terminal.err(cleaned(text)),
    ...(terminal.progress === undefined ? {} : { progress: (text) => terminal.progress?.(cleaned(text)) }),
    hasColours,
    lines: (lines) => terminal.out(lines.map(lineText).join('\n')),
  };
}

const GAP = '  ';

/** Lines with aligned columns; the last column is not padded. */
export function tableLines(rows: readonly (readonly Cell[])[]): readonly Line[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach(({ text }, at) => (widths[at] = Math.max(widths[at] ?? 0, text.length)));
  return rows.map((row) =>
    row.flatMap((cell, at) => {
      const padding = (widths[at] ?? 0) - cell.text.length;
      return at === row.length - 1 ? [cell] : [cell, { text: `${' '.repeat(padding)}${GAP}` }];
    }),
  );
}

export interface CommandContext {
  readonly terminal: Terminal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /**
   * Aborts when the user or the supervisor asks the process to end (SIGINT, SIGTERM); whoever reads it takes care of
   * the ending.
   */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** If absent, that of the process. */
  readonly nodeVersion?: string;
}
