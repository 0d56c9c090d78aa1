import { ConfigurationError } from '#libs/configuration';
import type { Warning } from '#libs/configuration';
import { type Check, fact, fault, looked, warning } from '../check.js';
import type { LoadedConfiguration } from '../loaded-configuration.js';

/** The file as the broker reads it, with every file that it names. */
export function configurationCheck(loaded: LoadedConfiguration): Check {
  return {
    name: 'configuration',
    limitMs: 5_000,
    run: () => Promise.resolve(looked(loaded.kind === 'usable' ? inOrder(loaded) : wrong(loaded.error))),
  };
}

function inOrder({ configuration }: Extract<LoadedConfiguration, { kind: 'usable' }>): ReturnType<typeof fact>[] {
  const { merchants, store, files } = configuration;
  const named = new Set(files.map(({ path }) => path));
  // Files that others can read are the business of the check of files.
  const rest = configuration.warnings.filter(({ path }) => !named.has(path));
  return [fact(`merchants: ${merchants.length}, store: ${store.type}`), ...rest.map(asWarning)];
}

const asWarning = ({ path, problem }: Warning): ReturnType<typeof warning> =>
  warning(`${path} ${problem}`, 'see docs/configuration.md');

function wrong(error: unknown): ReturnType<typeof fact>[] {
  if (!(error instanceof ConfigurationError)) throw error;
  return error.faults.map(({ path, problem }) =>
    fault('invalidInput', `${path} ${problem}`, 'see docs/configuration.md'),
  );
}
