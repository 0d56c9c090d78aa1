import type { ConfigurationError, NamedFile, Warning } from '#libs/configuration';
import { type Check, fact, fault, type Finding, looked, some, type Verdict, warning } from '../check.js';
import { placeOf } from '../../report.js';
import type { Loaded, LoadedConfiguration, LoadedEgress } from '../loaded-configuration.js';

/** The file as the broker reads it, with every file that it names. */
export function configurationCheck(loaded: LoadedConfiguration): Check {
  return checkOf(
    loaded,
    'docs/configuration.md',
    ({ merchants, store }) => `merchants: ${merchants.length}, store: ${store.type}`,
  );
}

/** The file as the egress reads it, with every file that it names. */
export function egressConfigurationCheck(loaded: LoadedEgress): Check {
  return checkOf(
    loaded,
    'docs/egress-configuration.md',
    ({ clients, routes }) => `clients: ${clients.length}, routes: ${routes.length}`,
  );
}

function checkOf<Configuration extends Noted>(
  loaded: Loaded<Configuration>,
  page: string,
  describe: (configuration: Configuration) => string,
): Check {
  const verdict = (): Verdict => {
    if (loaded.kind === 'incomplete') return { kind: 'not_run', reason: lackOf(loaded.unset) };
    if (loaded.kind === 'faulty') return looked(wrong(loaded.error, page));
    return looked([fact(describe(loaded.configuration)), ...warningsOf(loaded.configuration, page)]);
  };
  return { name: 'configuration', limitMs: 5_000, run: () => Promise.resolve(verdict()) };
}

/** Leads to exit code 6, as in `config check`: the file is not known to be wrong (ADR 36). */
function lackOf(unset: Extract<Loaded<unknown>, { readonly kind: 'incomplete' }>['unset']): string {
  const lacking = some(unset.map((value) => `${value.variable} for ${placeOf(value)}`));
  return `environment variables are not set: ${lacking}; run the doctor in the environment of the process that it checks`;
}

interface Noted {
  readonly files: readonly NamedFile[];
  readonly warnings: readonly Warning[];
}

function warningsOf({ files, warnings }: Noted, page: string): Finding[] {
  const named = new Set(files.map(({ path }) => path));
  // Files that others can read are up to the files check.
  return warnings
    .filter(({ path }) => !named.has(path))
    .map((each) => warning(`${placeOf(each)} ${each.problem}`, `see ${page}`));
}

function wrong(error: ConfigurationError, page: string): Finding[] {
  return error.faults.map((each) => fault('invalidInput', `${placeOf(each)} ${each.problem}`, `see ${page}`));
}
