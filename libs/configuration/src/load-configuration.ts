import { dirname, isAbsolute, resolve } from 'node:path';
import type { Clock } from '#libs/clock';
import type { BrokerConfiguration } from './broker-configuration.js';
import { brokerKind } from './broker-kind.js';
import { certificateWarnings } from './certificate-warnings.js';
import type { ConfigurationKind, Findings } from './configuration-kind.js';
import { deepFreeze } from './deep-freeze.js';
import type { EgressConfiguration } from './egress-configuration.js';
import { egressKind } from './egress-kind.js';
import { ConfigurationError, located, notCausedBy, WHOLE_FILE } from './fault.js';
import type { Environment } from './interpolate.js';
import { type Loaded, readFiles, withContents } from './named-files.js';
import { nearestName } from './nearest-name.js';
import { type Examined, examine, parsedOf } from './parse-configuration.js';
import { readTextFile } from './read-file.js';
import { MAX_FILE_BYTES, readYaml, type YamlContent } from './read-yaml.js';

/** What is needed to read a configuration, besides its files. */
export interface Surroundings {
  /** Where `${NAME}` is taken from. */
  readonly environment: Environment;
  /** Decides which certificates are valid. */
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Reads the configuration file of a broker and every file that it names; relative paths start at the folder of the
 * file.
 * @param file path of the YAML file
 * @throws ConfigurationError with every fault at once: those of the file, and those of all files that it names
 */
export async function loadConfiguration(file: string, surroundings: Surroundings): Promise<BrokerConfiguration> {
  return await load(brokerKind, await readSettings(file, surroundings));
}

/** `loadConfiguration` for the file of an egress. */
export async function loadEgressConfiguration(file: string, surroundings: Surroundings): Promise<EgressConfiguration> {
  return await load(egressKind, await readSettings(file, surroundings));
}

/** A configuration with its kind. */
export type AnyConfiguration =
  | { readonly kind: 'broker'; readonly configuration: BrokerConfiguration }
  | { readonly kind: 'egress'; readonly configuration: EgressConfiguration };

/** `loadConfiguration` or `loadEgressConfiguration`, depending on whether the file has the root member `egress`. */
export async function loadAnyConfiguration(file: string, surroundings: Surroundings): Promise<AnyConfiguration> {
  const read = await readSettings(file, surroundings);
  return isEgressFile(read.content)
    ? { kind: 'egress', configuration: await load(egressKind, read) }
    : { kind: 'broker', configuration: await load(brokerKind, read) };
}

/** Whether the root member of a file, misspelt or not, says that it is for an egress. */
export function isEgressFile({ tree }: YamlContent): boolean {
  if (typeof tree !== 'object') return false;
  if (Object.hasOwn(tree, ROOT_OF_EGRESS)) return true;
  const isOfBroker = Object.hasOwn(tree, 'merchants');
  return !isOfBroker && Object.keys(tree).some((name) => nearestName(name, [ROOT_OF_EGRESS]) !== undefined);
}

const ROOT_OF_EGRESS = 'egress';

/**
 * The kind of a file, by a root member that only that kind has; undefined if it has neither, or nothing can be read.
 */
export async function configurationKindOf(
  file: string,
  environment: Environment,
): Promise<'broker' | 'egress' | undefined> {
  const found = await readTextFile(file, MAX_FILE_BYTES);
  if (found.kind === 'fault') return undefined;
  const content = readYaml(found.text, environment);
  if (isEgressFile(content)) return 'egress';
  return typeof content.tree === 'object' && Object.hasOwn(content.tree, 'merchants') ? 'broker' : undefined;
}

/** @throws ConfigurationError if the file cannot be read; faults in its content are not thrown yet */
export async function readYamlFile(file: string, environment: Environment): Promise<YamlContent> {
  return readYaml(await textOf(file), environment);
}

interface Reading extends Pick<Surroundings, 'clock'> {
  /** Where relative paths start. */
  readonly folder: string;
}

/**
 * Reads every file that an examined configuration names, even if it already has faults.
 * @throws ConfigurationError with the faults of all files and of the configuration, in the order of the configuration
 * file
 */
export async function loadExamined<Settings extends object, Parsed, Configuration>(
  kind: ConfigurationKind<Settings, Parsed, Configuration>,
  examined: Examined<Settings>,
  { folder, clock }: Reading,
): Promise<Configuration & Findings> {
  const { contents, faults: faultsOfFiles, warnings } = await readFiles(examined.files, folder);
  const settings = withContents(examined.settings, contents);
  const found = [...faultsOfFiles, ...kind.betweenFiles(settings, examined.settings)];
  const faults = [...examined.faults, ...notCausedBy(examined.faults, found)];
  if (faults.length > 0) throw new ConfigurationError(located(examined.places, faults), examined);
  const parsed = parsedOf(kind, examined);
  const configuration = kind.toConfiguration(settings as unknown as Loaded<Settings>);
  const between = kind.warningsBetweenFiles?.(settings) ?? [];
  const ofCertificates = certificateWarnings({ files: examined.files, contents, now: clock.now() });
  const warned = located(examined.places, [...parsed.warnings, ...warnings, ...between, ...ofCertificates]);
  return deepFreeze({ ...configuration, files: parsed.files, warnings: warned });
}

interface ReadSettings extends Reading {
  readonly content: YamlContent;
}

async function readSettings(file: string, { environment, clock }: Surroundings): Promise<ReadSettings> {
  return { content: await readYamlFile(file, environment), folder: dirname(resolve(file)), clock };
}

async function load<Settings extends object, Parsed, Configuration>(
  kind: ConfigurationKind<Settings, Parsed, Configuration>,
  { content, ...reading }: ReadSettings,
): Promise<Configuration & Findings> {
  return await loadExamined(kind, examine(kind, content), reading);
}

async function textOf(file: string): Promise<string> {
  const content = await readTextFile(file, MAX_FILE_BYTES);
  if (content.kind === 'fault') {
    // A relative name leads elsewhere if the process runs in another folder than the reader thinks.
    const place = isAbsolute(file) ? file : `${file} (${resolve(file)})`;
    throw new ConfigurationError([{ path: WHOLE_FILE, problem: `${place} ${content.problem}` }]);
  }
  return content.text;
}
