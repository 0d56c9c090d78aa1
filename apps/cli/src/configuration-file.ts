import type { Command } from 'commander';
import type { CommandContext } from './terminal.js';

/** A file as named on the command line: as people type it, as scripts do, or not at all. */
interface Named {
  readonly file: string | undefined;
  readonly config?: string;
}

const ARGUMENT = '[file]';

/** `verb [file]`, which goes with an option of the same meaning. */
export const withFile = (verb: string): string => `${verb} ${ARGUMENT}`;

export const addConfigOption = (command: Command): Command =>
  command.option('--config <file>', 'the same as [file] (default: BROKER_CONFIG)');

/**
 * The file named on the command line, or else in the environment, as for the broker itself.
 * @returns undefined if neither names one
 * @throws CommanderError if both forms are used
 */
function namedConfiguration(
  { file, config }: Named,
  { environment }: Pick<CommandContext, 'environment'>,
  command: Command,
): string | undefined {
  if (file !== undefined && config !== undefined) {
    command.error('error: name the file once: after the command, or with --config');
  }
  const { BROKER_CONFIG: byEnvironment = '' } = environment;
  return file ?? config ?? (byEnvironment === '' ? undefined : byEnvironment);
}

/** @throws CommanderError if nothing names a file, or if both forms are used */
export function demandConfiguration(
  named: Named,
  context: Pick<CommandContext, 'environment'>,
  command: Command,
): string {
  return namedConfiguration(named, context, command) ?? command.error('error: name the file, or set BROKER_CONFIG');
}
