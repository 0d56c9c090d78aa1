import type { Command } from 'commander';
import { configurationKindOf } from '#libs/configuration';
import type { DoctorOptions } from '../commands/doctor.js';
import { namedConfiguration } from '../configuration-file.js';
import type { CommandContext } from '../terminal.js';

/** The options of `doctor`, as given on the command line. */
export type DoctorGiven = Partial<DoctorOptions> & { readonly egress?: string; readonly json?: true };

interface ExaminedFile {
  readonly kind: 'broker' | 'egress';
  readonly path: string;
}

/**
 * What may be given along with an egress file: every other option is about merchants, which an egress does not have.
 */
const OF_AN_EGRESS: ReadonlySet<string> = new Set(['file', 'config', 'egress', 'echoUrl', 'json']);

/**
 * The file to look at, and whether it is for a broker or an egress: `--egress` says so, and a file given without an
 * option says it itself, as for `config check`.
 * @throws CommanderError if no file or several are named, or if options are given that do not go with the file
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
 * Options that have no effect on their own. With `--yes` alone, a user might think that a session was created. Next to
 * the probes that are refused in production, the refusal is left to those probes, which say why.
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
