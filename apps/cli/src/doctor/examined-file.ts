import type { Command } from 'commander';
import { configurationKindOf } from '#libs/configuration';
import type { DoctorOptions } from '../commands/doctor.js';
import { namedConfiguration } from '../configuration-file.js';
import type { CommandContext } from '../terminal.js';

/** The options of the doctor, as they stand on the command line. */
export type DoctorGiven = Partial<DoctorOptions> & { readonly egress?: string; readonly json?: true };

interface ExaminedFile {
  readonly kind: 'broker' | 'egress';
  readonly path: string;
}

/** What goes beside the file of an egress: everything else is for merchants, which it has none of. */
const OF_AN_EGRESS: ReadonlySet<string> = new Set(['file', 'config', 'egress', 'echoUrl', 'json']);

/**
 * The file to look at, and whose it is: `--egress` says so, and a file without an option says it itself, as for `config check`.
 * @throws CommanderError where none or several are named, or options are given that do not go with it
 */
export async function examined(
  given: DoctorGiven & { readonly file: string | undefined },
  context: CommandContext,
  command: Command,
): Promise<ExaminedFile> {
  const { file, config, egress } = given;
  assertBelongs(given, command);
  if (egress !== undefined && (file ?? config) !== undefined) {
    command.error('error: name one file: behind the command, with --config or with --egress');
  }
  const path = egress ?? namedConfiguration(given, context, command);
  if (path === undefined)
    return command.error('error: name the file, or set BROKER_CONFIG; --egress names that of an egress');
  const isEgress = egress !== undefined || (path === file && (await isOfEgress(path, context)));
  if (isEgress) assertGoesWithEgress(given, command);
  return { kind: isEgress ? 'egress' : 'broker', path };
}

/**
 * What by itself has no effect. Of `--yes` alone somebody may think that a session was created; beside the probes that are refused in
 * production it is left to those, which say why.
 */
const belongsTo = [
  {
    name: 'yes',
    beside: ['createSession', 'crossCheck', 'discover'],
    why: '--yes says that --create-session may be made for a merchant in production',
  },
  { name: 'name', beside: ['discover'], why: '--name says where --discover is to look first' },
  { name: 'recipientKey', beside: ['discover'], why: '--recipient-key says with which keys --discover is to begin' },
] as const satisfies readonly { name: keyof DoctorGiven; beside: (keyof DoctorGiven)[]; why: string }[];

function assertBelongs(given: DoctorGiven, command: Command): void {
  const alone = belongsTo.find(
    ({ name, beside }) => given[name] !== undefined && beside.every((other) => given[other] === undefined),
  );
  if (alone !== undefined) command.error(`error: ${alone.why}; give it beside that`);
}

const isOfEgress = async (path: string, { environment }: CommandContext): Promise<boolean> =>
  (await configurationKindOf(path, environment)) === 'egress';

function assertGoesWithEgress(given: object, command: Command): void {
  const others = Object.keys(given).filter((name) => !OF_AN_EGRESS.has(name));
  if (others.length > 0) command.error('error: beside the file of an egress goes --echo-url alone');
}
