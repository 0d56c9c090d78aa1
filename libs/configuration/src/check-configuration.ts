import { dirname, resolve } from 'node:path';
import { brokerKind } from './broker-kind.js';
import type { ConfigurationKind } from './configuration-kind.js';
import { egressKind } from './egress-kind.js';
import { ConfigurationError, located, notCausedBy } from './fault.js';
import type { Environment } from './interpolate.js';
import { isEgressFile, readYamlFile } from './load-configuration.js';
import { type NamedFile, readFiles, withContents } from './named-files.js';
import { examine } from './parse-configuration.js';
import type { UnsetVariable, YamlContent } from './read-yaml.js';

/** What is right of a configuration, and what could not be looked at. */
export interface PartlyChecked {
  readonly kind: 'broker' | 'egress';
  /** Settings that need a variable which is not set, in the order of the file. */
  readonly unset: readonly UnsetVariable[];
  /** Every file that is named. */
  readonly files: readonly NamedFile[];
  /** Files that were named and not read. */
  readonly unread: readonly NamedFile[];
}

interface CheckOptions {
  readonly environment: Environment;
  /** False: the structure alone. */
  readonly readsFiles: boolean;
}

/**
 * Checks a configuration file as far as that is possible without variables that are not set and, where it is so wished,
 * without the files that it names: a machine that builds has none of the secrets.
 * @throws ConfigurationError with every fault of what could be looked at, and with the variables that are not set, unless
 *   nothing but the structure is asked for
 */
export async function checkConfiguration(file: string, options: CheckOptions): Promise<PartlyChecked> {
  const content = await readYamlFile(file, options.environment);
  const folder = dirname(resolve(file));
  return isEgressFile(content)
    ? { kind: 'egress', ...(await check(egressKind, content, { ...options, folder })) }
    : { kind: 'broker', ...(await check(brokerKind, content, { ...options, folder })) };
}

async function check<Settings extends object>(
  kind: ConfigurationKind<Settings, unknown, unknown>,
  content: YamlContent,
  { readsFiles, folder }: CheckOptions & { readonly folder: string },
): Promise<Omit<PartlyChecked, 'kind'>> {
  const { unset } = content;
  const missing = new Set(unset.map(({ path }) => path));
  const { settings, files, faults, places } = examine(kind, {
    ...content,
    faults: content.faults.filter(({ path }) => !missing.has(path)),
  });
  const read = await readFiles(readsFiles ? files : [], folder);
  const between = readsFiles ? kind.betweenFiles(withContents(settings, read.contents), settings) : [];
  const found = [...faults, ...notCausedBy([...faults, ...unset], [...read.faults, ...between])];
  if (found.length > 0) {
    const unsetFaults = readsFiles ? content.faults.filter(({ path }) => missing.has(path)) : [];
    throw new ConfigurationError(located(places, [...found, ...unsetFaults]));
  }
  const named = files.map(({ path, file, content: { kind: holds } }) => ({ path, file, content: holds }));
  return { unset: located(places, unset), files: named, unread: readsFiles ? [] : named };
}
