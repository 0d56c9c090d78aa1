import { checkConfiguration, type PartlyChecked } from '#libs/configuration';
import { exitCodes } from '../exit-codes.js';
import { placed, placeOf, type Report } from '../report.js';
import type { CommandContext } from '../terminal.js';

interface ConfigCheckOptions {
  readonly file: string;
  /** If set, neither the environment nor the named files need to be there. */
  readonly structure?: true;
}

/** Never suggests a default in the file: what is left to the environment is usually a secret. */
const UNSET_ADVICE =
  'set the variables as for the process itself; on a machine without secrets, --structure checks the rest';

/**
 * Reads the configuration of a broker or of an egress, with every file that it names, using their own readers. If
 * variables are not set, everything else is checked, and the report is incomplete.
 * @throws ConfigurationError with every fault, each with its path in the file
 */
export async function configCheck(
  options: ConfigCheckOptions,
  { environment, clock }: CommandContext,
): Promise<Report> {
  const { file, structure = false } = options;
  const checked = await checkConfiguration(file, { environment, clock, reads: structure ? 'structure' : 'files' });
  const { kind, error, configuration, warnings } = checked;
  if (error !== undefined) throw error;
  if (configuration === undefined) return partReport(options, checked);
  return { lines: [`${file} is valid`], json: { file, kind }, warnings: warnings.map(placed) };
}

function partReport({ file, structure }: ConfigCheckOptions, { kind, unset, files, warnings }: PartlyChecked): Report {
  const unread = structure === true ? files : [];
  return {
    lines: [
      `${file}: the structure is right; not checked:`,
      ...unset.map((value) => `  ${placeOf(value)}: the environment variable ${value.variable} is not set`),
      ...unread.map(({ path, content }) => `  ${path}: ${content === 'secret' ? 'a secret file' : 'a file'}, not read`),
      ...(structure === true ? [] : [UNSET_ADVICE]),
    ],
    json: {
      file,
      kind,
      unset: unset.map(({ path, line, variable }) => ({ path, line, variable })),
      unread: unread.map(({ path, content }) => ({ path, content })),
    },
    warnings: warnings.map(placed),
    exitCode: structure ? exitCodes.ok : exitCodes.incomplete,
  };
}
