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
