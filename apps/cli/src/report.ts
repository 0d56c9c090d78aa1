import { BrokerError, describeError } from '#libs/errors';
import { exitCodeOf, exitCodes } from './exit-codes.js';
import type { CleanTerminal, Line } from './terminal.js';

/**
 * What a command has to say, once for people and once for programs. Neither contains a secret that was not asked for.
 */
export interface Report {
  readonly lines: readonly Line[];
  readonly json: object;
  /** Not faults, but worth a look; standard error for people, `warnings` for programs. */
  readonly warnings?: readonly string[];
  /** What ended the work, in one sentence; standard error for people, and in `json` for programs. */
  readonly error?: string;
  /** If the work was done but what was found is not a success; default: 0. */
  readonly exitCode?: number;
}

interface ReportOptions {
  readonly terminal: CleanTerminal;
  readonly json: boolean;
}

interface PlacedFault {
  readonly path: string;
  readonly problem: string;
  readonly line?: number;
}

/** A fault with several parts, each with its place, e.g. in a configuration file. */
interface Faulty {
  readonly faults: readonly PlacedFault[];
  /** Reported along with the faults. */
  readonly warnings?: readonly PlacedFault[];
}

const NO_FAULTS: Faulty = { faults: [] };
const faultsOf = (error: unknown): Faulty =>
  error instanceof Error && 'faults' in error && Array.isArray(error.faults) ? (error as unknown as Faulty) : NO_FAULTS;

/**
 * Does the work and prints its report, or the fault that ended it.
 * @returns the exit code
 */
export async function report(options: ReportOptions, work: () => Promise<Report>): Promise<number> {
  try {
    const done = await work();
    printReport(options, done);
    return done.exitCode ?? exitCodes.ok;
  } catch (error) {
    printFault(options, error);
    return exitCodeOf(error);
  }
}

function printReport({ terminal, json }: ReportOptions, done: Report): void {
  const { lines, json: facts, warnings = [], error, exitCode = exitCodes.ok } = done;
  if (json) {
    terminal.out(JSON.stringify({ ok: exitCode === exitCodes.ok, ...facts, warnings }, null, 2));
    return;
  }
  for (const warning of warnings) terminal.err(`warning: ${warning}`);
  if (error !== undefined) terminal.err(`error: ${error}`);
  if (lines.length > 0) terminal.lines(lines);
}

function printFault({ terminal, json }: ReportOptions, error: unknown): void {
  const { faults, warnings = [] } = faultsOf(error);
  const code = error instanceof BrokerError ? error.code : 'internal_error';
  const message = messageOf(error, faults.length > 0);
  if (json) {
    const told = { code, message, ...(faults.length > 0 && { faults }) };
    const beside = warnings.length > 0 && { warnings: warnings.map(placed) };
    terminal.out(JSON.stringify({ ok: false, error: told, ...beside }, null, 2));
    return;
  }
  terminal.err(`error: ${message}`);
  for (const fault of faults) terminal.err(`  ${placed(fault)}`);
  for (const warning of warnings) terminal.err(`warning: ${placed(warning)}`);
}

/** The setting, and where it is. */
export const placeOf = ({ path, line }: Pick<PlacedFault, 'path' | 'line'>): string =>
  line === undefined ? path : `${path} (line ${line})`;

/** The setting, where it is, and what is said about it. */
export const placed = (fault: PlacedFault): string => `${placeOf(fault)}: ${fault.problem}`;

/** Faults that are listed one by one are not repeated in the headline. */
function messageOf(error: unknown, listed: boolean): string {
  if (!(error instanceof BrokerError)) return describeError(error);
  return listed ? error.entry.title : error.message;
}
