import type { Command } from 'commander';
import type { CommandContext } from './terminal.js';

/** A file as the command line names it: what people type, what scripts do, or neither. */
interface Named {
  readonly file: string | undefined;
  readonly config?: string;
}

const ARGUMENT = '[file]';

/** `verb [file]`, with the option that means the same. */
export const withFile = (verb: string): string => `${verb} ${ARGUMENT}`;

export const addConfigOption = (command: Command): Command =>
  command.option('--config <file>', 'the same as [file]; BROKER_CONFIG when neither is given');

/**
 * The file that is named on the command line, else that of the environment, as for the broker itself.
 * @returns undefined where none names one
 * @throws CommanderError where both forms are used
 */
export function namedConfiguration(
  { file, config }: Named,
  { environment }: Pick<CommandContext, 'environment'>,
  command: Command,
): string | undefined {
  if (file !== undefined && config !== undefined) {
    command.error('error: name the file once: behind the command, or with --config');
  }
  const { BROKER_CONFIG: byEnvironment = '' } = environment;
  return file ?? config ?? (byEnvironment === '' ? undefined : byEnvironment);
}

/** @throws CommanderError where nothing names a file, or both forms are used */
export function demandConfiguration(
  named: Named,
  context: Pick<CommandContext, 'environment'>,
  command: Command,
): string {
  return namedConfiguration(named, context, command) ?? command.error('error: name the file, or set BROKER_CONFIG');
}
