import type { ConfigurationError, NamedFile, Warning } from '#libs/configuration';
import { type Check, fact, fault, type Finding, looked, warning } from '../check.js';
import type { LoadedConfiguration, LoadedEgress } from '../loaded-configuration.js';

/** The file as the broker reads it, with every file that it names. */
export function configurationCheck(loaded: LoadedConfiguration): Check {
  return checkOf(loaded, ({ merchants, store }) => `merchants: ${merchants.length}, store: ${store.type}`);
}

/** The file as the egress reads it, with every file that it names. */
export function egressConfigurationCheck(loaded: LoadedEgress): Check {
  return checkOf(loaded, ({ clients, routes }) => `clients: ${clients.length}, routes: ${routes.length}`);
}

type Loaded<Configuration> =
  | { readonly kind: 'usable'; readonly configuration: Configuration }
  | { readonly kind: 'faulty'; readonly error: ConfigurationError };

function checkOf<Configuration extends Noted>(
  loaded: Loaded<Configuration>,
  describe: (configuration: Configuration) => string,
): Check {
  const findings =
    loaded.kind === 'usable'
      ? (): Finding[] => [fact(describe(loaded.configuration)), ...warningsOf(loaded.configuration)]
      : (): Finding[] => wrong(loaded.error);
  return { name: 'configuration', limitMs: 5_000, run: () => Promise.resolve(looked(findings())) };
}

interface Noted {
  readonly files: readonly NamedFile[];
  readonly warnings: readonly Warning[];
}

function warningsOf({ files, warnings }: Noted): Finding[] {
  const named = new Set(files.map(({ path }) => path));
  // Files that others can read are the business of the check of files.
  return warnings.filter(({ path }) => !named.has(path)).map(asWarning);
}

const asWarning = ({ path, problem }: Warning): Finding => warning(`${path} ${problem}`, 'see docs/configuration.md');

function wrong(error: ConfigurationError): Finding[] {
  return error.faults.map(({ path, problem }) =>
    fault('invalidInput', `${path} ${problem}`, 'see docs/configuration.md'),
  );
}
