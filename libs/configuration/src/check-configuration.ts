import { dirname, resolve } from 'node:path';
import { brokerKind } from './broker-configuration.js';
import type { ConfigurationKind } from './configuration-kind.js';
import { egressKind } from './egress-configuration.js';
import { ConfigurationError, located, type Warning, WHOLE_FILE } from './fault.js';
import { examine, isEgressFile, look, readYamlFile, type Surroundings } from './load-configuration.js';
import type { NamedFile } from './named-files.js';
import type { UnsetVariable, YamlContent } from './read-yaml.js';

/** What is wrong in a configuration, and what could not be checked. */
export interface PartlyChecked {
  readonly kind: 'broker' | 'egress';
  /**
   * Every fault in what could be checked and, unless only the structure is checked, the variables that are not set;
   * absent if only those are missing.
   */
  readonly error?: ConfigurationError;
  /** Settings that need a variable that is not set, in the order of the file. */
  readonly unset: readonly UnsetVariable[];
  /** The files that were not read. */
  readonly unread: readonly NamedFile[];
  /** About what could be checked. */
  readonly warnings: readonly Warning[];
}

interface CheckOptions extends Omit<Surroundings, 'asksTokens'> {
  /** False: check the structure alone. */
  readonly readsFiles: boolean;
}

/**
 * Checks a configuration file as far as possible without variables that are not set and, if requested, without the
 * files that it names: a build machine has none of the secrets. No PKCS#11 module is run.
 * @throws ConfigurationError if the file is not YAML, or so much is wrong that checking stopped before the end
 */
export async function checkConfiguration(file: string, options: CheckOptions): Promise<PartlyChecked> {
  const content = await readYamlFile(file, options.environment);
  const place = { ...options, folder: dirname(resolve(file)) };
  return isEgressFile(content)
    ? { kind: 'egress', ...(await check(egressKind, content, place)) }
    : { kind: 'broker', ...(await check(brokerKind, content, place)) };
}

async function check<Settings>(
  kind: ConfigurationKind<Settings, unknown>,
  content: YamlContent,
  options: CheckOptions & { readonly folder: string },
): Promise<Omit<PartlyChecked, 'kind'>> {
  const examined = examine(kind, content);
  const { places, unset, hasMore, faults } = examined;
  if (hasMore || faults.some(({ path }) => path === WHOLE_FILE))
    throw new ConfigurationError(located(places, faults), { hasMore });
  const { ofFiles, warnings, named } = await look(kind, examined, { ...options, asksTokens: false });
  const ofUnset = new Set(unset.map(({ path }) => path));
  const wrong = faults.filter(({ path }) => !ofUnset.has(path));
  const told = [...(options.readsFiles ? faults : wrong), ...ofFiles];
  const error = wrong.length + ofFiles.length > 0 && new ConfigurationError(located(places, told), { warnings });
  const unread = options.readsFiles ? [] : named;
  return { ...(error && { error }), unset: located(places, unset), unread, warnings };
}
