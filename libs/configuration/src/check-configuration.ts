import { dirname, resolve } from 'node:path';
import { brokerKind } from './broker-configuration.js';
import type { Loose } from './check-settings.js';
import type { ConfigurationKind } from './configuration-kind.js';
import { egressKind } from './egress-configuration.js';
import { ConfigurationError, isWithin, located, type Warning, WHOLE_FILE } from './fault.js';
import { type BrokerParts, brokerParts, type EgressParts, egressParts, type Lacking } from './known-parts.js';
import { examine, isEgressFile, look, readYamlFile, type Surroundings } from './load-configuration.js';
import type { Loaded, NamedFile } from './named-files.js';
import type { UnsetVariable, YamlContent } from './read-yaml.js';

type Known =
  { readonly kind: 'broker'; readonly known: BrokerParts } | { readonly kind: 'egress'; readonly known: EgressParts };

/** What is known to be correct in a configuration, and what could not be checked. */
export type PartlyChecked = Known & {
  /** Settings that need a variable that is not set, in the order of the file. */
  readonly unset: readonly UnsetVariable[];
  /** Every file that is named. */
  readonly files: readonly NamedFile[];
  /** Files that were named but not read. */
  readonly unread: readonly NamedFile[];
  /** About what could be checked. */
  readonly warnings: readonly Warning[];
};

interface CheckOptions extends Surroundings {
  /** False: check the structure alone. */
  readonly readsFiles: boolean;
}

/**
 * Checks a configuration file as far as possible without variables that are not set and, if requested, without the
 * files that it names: a build machine has none of the secrets.
 * @throws ConfigurationError with every fault in what could be checked and, unless only the structure is checked, the
 * variables that are not set
 */
export async function checkConfiguration(file: string, options: CheckOptions): Promise<PartlyChecked> {
  return await inKind(file, options, async (kind, content, folder) => {
    const { readsFiles, clock } = options;
    const examined = examine(kind, content);
    const { places, unset, hasMore } = examined;
    const { settings, ofFiles, warnings, named } = await look(kind, examined, { folder, clock, readsFiles });
    const ofUnset = new Set(unset.map(({ path }) => path));
    const faults = examined.faults.filter(({ path }) => readsFiles || !ofUnset.has(path));
    if (faults.some(({ path }) => !ofUnset.has(path)) || ofFiles.length > 0)
      throw new ConfigurationError(located(places, [...faults, ...ofFiles]), { hasMore, warnings });
    const unread = readsFiles ? [] : named;
    const lacking = [...lackingVariables(unset), ...unread.map(({ path }) => ({ path, lack: { fileOf: path } }))];
    return { settings, lacking, rest: { unset: located(places, unset), files: named, unread, warnings } };
  });
}

/** What can be known of a configuration with faulty settings or files, or unset variables. */
export type KnownInPart = Known &
  Pick<PartlyChecked, 'files'> & {
    /** Settings that are correct in themselves but whose files are faulty. */
    readonly faulty: readonly string[];
  };

/** @throws ConfigurationError if the file is not YAML, or so much is wrong that checking stopped before the end */
export async function knownInPart(file: string, surroundings: Surroundings): Promise<KnownInPart> {
  return await inKind(file, surroundings, async (kind, content, folder) => {
    const examined = examine(kind, content);
    const { faults, places, unset, hasMore } = examined;
    if (hasMore || faults.some(({ path }) => path === WHOLE_FILE))
      throw new ConfigurationError(located(places, faults), { hasMore });
    const { settings, ofFiles, named } = await look(kind, examined, { folder, clock: surroundings.clock });
    const ofUnset = new Set(unset.map(({ path }) => path));
    const wrong = faults.filter(({ path }) => !ofUnset.has(path));
    const lacking: Lacking[] = [
      ...lackingVariables(unset),
      ...ofFiles.map(({ path }) => ({ path, lack: { fileOf: path } })),
      ...wrong.map(({ path }) => ({ path, lack: { setting: path } })),
    ];
    const files = named.filter(({ path }) => !wrong.some((fault) => isWithin(path, fault.path)));
    return { settings, lacking, rest: { files, faulty: ofFiles.map(({ path }) => path) } };
  });
}

interface InPart<Settings, Rest> {
  readonly settings: Loaded<Loose<Settings>>;
  readonly lacking: readonly Lacking[];
  readonly rest: Rest;
}

/** Reads a file as that of a broker or of an egress, whichever it is. */
async function inKind<Rest extends object>(
  file: string,
  { environment }: Pick<Surroundings, 'environment'>,
  read: <Settings>(
    kind: ConfigurationKind<Settings, unknown>,
    content: YamlContent,
    folder: string,
  ) => Promise<InPart<Settings, Rest>>,
): Promise<Known & Rest> {
  const content = await readYamlFile(file, environment);
  const folder = dirname(resolve(file));
  if (isEgressFile(content)) {
    const { settings, lacking, rest } = await read(egressKind, content, folder);
    return { ...rest, kind: 'egress', known: egressParts(settings, lacking) };
  }
  const { settings, lacking, rest } = await read(brokerKind, content, folder);
  return { ...rest, kind: 'broker', known: brokerParts(settings, lacking) };
}

const lackingVariables = (unset: readonly UnsetVariable[]): Lacking[] =>
  unset.map(({ path, variable }) => ({ path, lack: { variable } }));
