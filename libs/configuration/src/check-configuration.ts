import { dirname, resolve } from 'node:path';
import type { Clock, Instant } from '#libs/clock';
import { brokerKind } from './broker-kind.js';
import { certificateWarnings } from './certificate-warnings.js';
import type { Loose } from './check-settings.js';
import type { ConfigurationKind } from './configuration-kind.js';
import { egressKind } from './egress-kind.js';
import { ConfigurationError, type Fault, located, type Warning } from './fault.js';
import { notCausedBy, type Place, WHOLE_FILE } from './fault.js';
import type { Environment } from './interpolate.js';
import { isEgressFile, readYamlFile } from './load-configuration.js';
import { type BrokerParts, brokerParts, type EgressParts, egressParts } from './known-parts.js';
import { isWithin, type Lacking, lackingVariables } from './lacking.js';
import { type Loaded, type NamedFile, readFiles, withContents } from './named-files.js';
import { examine } from './parse-configuration.js';
import type { UnsetVariable, YamlContent } from './read-yaml.js';

/** What is known to be correct in a configuration, and what could not be checked. */
export type PartlyChecked = Looked &
  (
    | { readonly kind: 'broker'; readonly known: BrokerParts }
    | { readonly kind: 'egress'; readonly known: EgressParts }
    | { readonly kind: 'broker' | 'egress'; readonly known?: never }
  );

interface Looked {
  /** Settings that need a variable that is not set, in the order of the file. */
  readonly unset: readonly UnsetVariable[];
  /** Every file that is named. */
  readonly files: readonly NamedFile[];
  /** Files that were named but not read. */
  readonly unread: readonly NamedFile[];
  /** About what could be checked. */
  readonly warnings: readonly Warning[];
}

interface CheckOptions {
  readonly environment: Environment;
  /** Decides which certificates are valid. */
  readonly clock: Pick<Clock, 'now'>;
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
  const content = await readYamlFile(file, options.environment);
  const folder = dirname(resolve(file));
  if (isEgressFile(content)) {
    const { settings, ...looked } = await check(egressKind, content, { ...options, folder });
    return {
      ...looked,
      kind: 'egress',
      ...(settings && { known: egressParts(settings, lackingVariables(looked.unset)) }),
    };
  }
  const { settings, ...looked } = await check(brokerKind, content, { ...options, folder });
  return {
    ...looked,
    kind: 'broker',
    ...(settings && { known: brokerParts(settings, lackingVariables(looked.unset)) }),
  };
}

/** What can be known of a configuration with faulty settings or files, or unset variables. */
export type KnownInPart = Pick<Looked, 'files'> & {
  /** Settings that are correct in themselves but whose files are faulty. */
  readonly faulty: readonly string[];
} & (
    { readonly kind: 'broker'; readonly known: BrokerParts } | { readonly kind: 'egress'; readonly known: EgressParts }
  );

/** @throws ConfigurationError if the file is not YAML, or so much is wrong that checking stopped before the end */
export async function knownInPart(file: string, environment: Environment): Promise<KnownInPart> {
  const content = await readYamlFile(file, environment);
  const folder = dirname(resolve(file));
  if (isEgressFile(content)) {
    const { settings, lacking, ...rest } = await inPart(egressKind, content, folder);
    return { ...rest, kind: 'egress', known: egressParts(settings, lacking) };
  }
  const { settings, lacking, ...rest } = await inPart(brokerKind, content, folder);
  return { ...rest, kind: 'broker', known: brokerParts(settings, lacking) };
}

interface InPart<Settings> extends Pick<KnownInPart, 'files' | 'faulty'> {
  readonly settings: Loaded<Loose<Settings>>;
  readonly lacking: readonly Lacking[];
}

async function inPart<Settings extends object>(
  kind: ConfigurationKind<Settings, unknown, unknown>,
  content: YamlContent,
  folder: string,
): Promise<InPart<Settings>> {
  const { settings, faults, ofFiles, named, places, hasMore } = await look(kind, content, {
    readsFiles: true,
    folder,
  });
  if (hasMore || faults.some(({ path }) => path === WHOLE_FILE)) {
    throw new ConfigurationError(located(places, faults), { hasMore });
  }
  const lacking = [
    ...lackingVariables(content.unset),
    ...ofFiles.map(({ path }) => ({ path, lack: { fileOf: path } })),
    ...faults.map(({ path }) => ({ path, lack: { setting: path } })),
  ];
  return {
    settings,
    lacking,
    faulty: ofFiles.map(({ path }) => path),
    files: named.filter(({ path }) => !faults.some((fault) => isWithin(path, fault.path))),
  };
}

interface Found<Settings> {
  readonly settings: Loaded<Loose<Settings>>;
  /** In the configuration itself. */
  readonly faults: readonly Fault[];
  readonly ofFiles: readonly Fault[];
  /** Those that only say that a variable is not set. */
  readonly ofUnset: readonly Fault[];
  readonly named: readonly NamedFile[];
  /** Warnings about everything that is free of faults. */
  readonly warnings: (now: Instant) => readonly Warning[];
  readonly places: ReadonlyMap<string, Place>;
  readonly hasMore: boolean;
}

interface Reading extends Pick<CheckOptions, 'readsFiles'> {
  readonly folder: string;
}

interface Checking extends Reading, Pick<CheckOptions, 'clock'> {}

async function look<Settings extends object>(
  kind: ConfigurationKind<Settings, unknown, unknown>,
  content: YamlContent,
  { readsFiles, folder }: Reading,
): Promise<Found<Settings>> {
  const { unset } = content;
  const missing = new Set(unset.map(({ path }) => path));
  const { settings, files, faults, places, hasMore } = examine(kind, {
    ...content,
    faults: content.faults.filter(({ path }) => !missing.has(path)),
  });
  const read = await readFiles(readsFiles ? files : [], folder);
  const loaded = withContents(settings, read.contents);
  const between = readsFiles ? kind.betweenFiles(loaded, settings) : [];
  const ofFiles = notCausedBy([...faults, ...unset], [...read.faults, ...between]);
  const warnings = (now: Instant): Warning[] => {
    const betweenFiles = readsFiles ? (kind.warningsBetweenFiles?.(loaded) ?? []) : [];
    const ofCertificates = certificateWarnings({ files, contents: read.contents, now });
    const found = [...kind.warningsOf(settings), ...betweenFiles, ...read.warnings, ...ofCertificates];
    return located(places, notCausedBy([...faults, ...unset, ...ofFiles], found));
  };
  return {
    ...{ settings: loaded, faults, places },
    hasMore,
    ofFiles,
    warnings,
    ofUnset: content.faults.filter(({ path }) => missing.has(path)),
    named: files.map(({ path, file, content: { kind: holds } }) => ({ path, file, content: holds })),
  };
}

async function check<Settings extends object>(
  kind: ConfigurationKind<Settings, unknown, unknown>,
  content: YamlContent,
  { clock, ...reading }: Checking,
): Promise<Looked & { readonly settings?: Loaded<Loose<Settings>> }> {
  const { faults, ofFiles, ofUnset, places, named, settings, warnings, hasMore } = await look(kind, content, reading);
  const found = [...faults, ...ofFiles];
  if (found.length > 0) {
    const told = located(places, [...found, ...(reading.readsFiles ? ofUnset : [])]);
    throw new ConfigurationError(told, { hasMore, warnings: warnings(clock.now()) });
  }
  const looked = { unset: located(places, content.unset), files: named, warnings: warnings(clock.now()) };
  return reading.readsFiles ? { ...looked, unread: [], settings } : { ...looked, unread: named };
}
