import type { Clock } from '#libs/clock';

/** Where a command speaks: tests read it, `main.ts` connects it to the process. */
export interface Terminal {
  /** One line, or several joined by line feeds, to standard output: the answer. */
  out(text: string): void;
  /** The same to standard error: faults, warnings, and what goes on. */
  err(text: string): void;
  /** One line on standard error, in the place of the one before; an empty text erases it. Absent where no person watches. */
  progress?(text: string): void;
  /** Whether what goes to standard output may have colours. */
  readonly hasColours?: boolean;
}

export interface CommandContext {
  readonly terminal: Terminal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborts when the person or the supervisor asks the process to end (SIGINT, SIGTERM); whoever reads it sees to the ending. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** That of the process when it is absent. */
  readonly nodeVersion?: string;
}
