import { dirname, resolve } from 'node:path';
import { brokerKind } from './broker-kind.js';
import type { Loose } from './check-settings.js';
import type { ConfigurationKind } from './configuration-kind.js';
import { egressKind } from './egress-kind.js';
import { ConfigurationError, located, notCausedBy } from './fault.js';
import type { Environment } from './interpolate.js';
import { isEgressFile, readYamlFile } from './load-configuration.js';
import { type BrokerParts, brokerParts, type EgressParts, egressParts } from './known-parts.js';
import { type Loaded, type NamedFile, readFiles, withContents } from './named-files.js';
import { examine } from './parse-configuration.js';
import type { UnsetVariable, YamlContent } from './read-yaml.js';

/** What is right of a configuration, and what could not be looked at. */
export type PartlyChecked = Looked &
  (
    | { readonly kind: 'broker'; readonly known: BrokerParts }
    | { readonly kind: 'egress'; readonly known: EgressParts }
    | { readonly kind: 'broker' | 'egress'; readonly known?: never }
  );

interface Looked {
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
  if (isEgressFile(content)) {
    const { settings, ...looked } = await check(egressKind, content, { ...options, folder });
    return { ...looked, kind: 'egress', ...(settings && { known: egressParts(settings, looked.unset) }) };
  }
  const { settings, ...looked } = await check(brokerKind, content, { ...options, folder });
  return { ...looked, kind: 'broker', ...(settings && { known: brokerParts(settings, looked.unset) }) };
}

async function check<Settings extends object>(
  kind: ConfigurationKind<Settings, unknown, unknown>,
  content: YamlContent,
  { readsFiles, folder }: CheckOptions & { readonly folder: string },
): Promise<Looked & { readonly settings?: Loaded<Loose<Settings>> }> {
  const { unset } = content;
  const missing = new Set(unset.map(({ path }) => path));
  const { settings, files, faults, places } = examine(kind, {
    ...content,
    faults: content.faults.filter(({ path }) => !missing.has(path)),
  });
  const read = await readFiles(readsFiles ? files : [], folder);
  const loaded = withContents(settings, read.contents);
  const between = readsFiles ? kind.betweenFiles(loaded, settings) : [];
  const found = [...faults, ...notCausedBy([...faults, ...unset], [...read.faults, ...between])];
  if (found.length > 0) {
    const unsetFaults = readsFiles ? content.faults.filter(({ path }) => missing.has(path)) : [];
    throw new ConfigurationError(located(places, [...found, ...unsetFaults]));
  }
  const named = files.map(({ path, file, content: { kind: holds } }) => ({ path, file, content: holds }));
  const looked = { unset: located(places, unset), files: named };
  return readsFiles ? { ...looked, unread: [], settings: loaded } : { ...looked, unread: named };
}
