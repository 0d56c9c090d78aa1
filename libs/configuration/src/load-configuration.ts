import { dirname, isAbsolute, resolve } from 'node:path';
import type { Clock } from '#libs/clock';
import type { SessionSettings } from '#libs/session';
import { type BrokerConfiguration, brokerKind, sessionOptions } from './broker-configuration.js';
import { certificatesIn } from './certificates.js';
import { checkSettings, type Loose, nearestName } from './check-settings.js';
import { type EgressConfiguration, egressKind } from './egress-configuration.js';
import { ConfigurationError, type Fault, faultyAmong, located, type Places, WHOLE_FILE } from './fault.js';
import { withoutFollowers } from './fault.js';
import { type FileSetting, type Loaded, type NamedFile, readFiles, readTextFile, withContents } from './named-files.js';
import { type Environment, MAX_FILE_BYTES, readYaml, type YamlContent } from './read-yaml.js';
import { type ConfigurationKind, faultSaid, type Findings, type Rule } from './rule.js';
import type { BrokerSettings } from './settings/broker-settings.js';
import type { EgressSettings } from './settings/egress-settings.js';

/** What is needed to read a configuration, besides its files. */
export interface Surroundings {
  /** Where `${NAME}` is taken from. */
  readonly environment: Environment;
  /** Decides which certificates are valid. */
  readonly clock: Pick<Clock, 'now'>;
  /**
   * How far it goes; all the way by default. `files`: a key in a token is read from its file alone, and no PKCS#11
   * module is run. `structure`: no other file is read.
   */
  readonly reads?: 'structure' | 'files';
}

/** A configuration file as far as it can be understood by itself. */
export interface Examined<Settings> {
  /** Complete when there are no faults. */
  readonly settings: Loose<Settings>;
  /** The files that correct settings name. */
  readonly files: readonly FileSetting[];
  readonly faults: readonly Fault[];
  readonly places: Places;
}

/** Checks the content of a configuration file: structure, each value, and the rules between settings. */
export function examine<Settings>(
  kind: Pick<ConfigurationKind<Settings, unknown>, 'fields' | 'rules'>,
  { tree, placeholders, places, faults }: YamlContent,
): Examined<Settings> {
  const problem = tree === undefined ? undefined : foreignTo(kind, tree);
  if (tree === undefined || problem !== undefined) {
    const all = problem === undefined ? faults : [{ path: WHOLE_FILE, problem }];
    return { settings: {} as Loose<Settings>, files: [], faults: all, places };
  }
  const checked = checkSettings(tree, kind.fields, placeholders);
  const settings = checked.settings as Loose<Settings>;
  const own = withoutFollowers([...faults, ...checked.faults]);
  return { settings, files: checked.files, faults: [...own, ...told(kind.rules, settings, own)], places };
}

/** In a file of the other kind, every setting would be a fault. */
function foreignTo({ fields }: Pick<ConfigurationKind<never, unknown>, 'fields'>, tree: object): string | undefined {
  const [own, other, whose] =
    'egress' in fields ? ['egress', 'merchants', 'a broker'] : ['merchants', 'egress', 'an egress'];
  return Object.hasOwn(tree, other) && !Object.hasOwn(tree, own) ? `is the configuration of ${whose}` : undefined;
}

/** What rules say of settings, as far as it does not follow from other faults. */
function told<Settings>(
  rules: readonly Rule<Settings>[],
  settings: Loose<Settings>,
  causes: readonly Fault[],
): Fault[] {
  const isFaulty = faultyAmong(causes);
  return rules.flatMap((rule) => [...rule(settings, isFaulty)].map(faultSaid)).filter(({ path }) => !isFaulty(path));
}

/** A configuration with everything that it names, as far as it was read. */
interface Inspected<Configuration> extends Findings {
  /** In the order of the file. */
  readonly faults: readonly Fault[];
  /** If there are none. */
  readonly configuration?: Configuration & Findings;
}

/** Reads every file that an examined configuration names, even if it already has faults. */
export async function inspect<Settings, Configuration>(
  kind: ConfigurationKind<Settings, Configuration>,
  { settings, files: named, faults, places }: Examined<Settings>,
  { folder, clock, reads }: Omit<Surroundings, 'environment'> & { readonly folder: string },
): Promise<Inspected<Configuration>> {
  const readsFiles = reads !== 'structure';
  const modules = kind.modules(settings).filter((module) => module !== undefined);
  const tokens = { modules, asks: reads === undefined };
  const { contents, ...read } = await readFiles(readsFiles ? named : [], { folder, tokens });
  const loaded = withContents(settings, contents);
  const isFaulty = faultyAmong(faults);
  const ofFiles = [...read.faults, ...(readsFiles ? [...kind.fileFaults(loaded)].map(faultSaid) : [])];
  const all = [...faults, ...ofFiles.filter(({ path }) => !isFaulty(path))];
  const isCaused = faultyAmong(all);
  const { certificates, ...ofCertificates } = certificatesIn({ files: named, contents, now: clock.now() });
  const ofContents = [...read.warnings, ...ofCertificates.warnings];
  const warnings = located(places, [
    ...told(kind.warnings, settings, all),
    ...ofContents.filter(({ path }) => !isCaused(path)),
  ]);
  const files = named.map(asNamed);
  const found = { faults: located(places, all), files, warnings, certificates };
  if (all.length > 0 || !readsFiles) return found;
  const configuration = kind.toConfiguration(loaded as unknown as Loaded<Settings>);
  return { ...found, configuration: { ...configuration, files, warnings, certificates } };
}

/** @throws ConfigurationError with every fault */
export function assertRight<Configuration>({
  configuration,
  faults,
}: Inspected<Configuration>): Configuration & Findings {
  if (configuration === undefined) throw new ConfigurationError(faults);
  return configuration;
}

/**
 * Reads the configuration file of a broker and every file that it names; relative paths start at the folder of the file.
 * @throws ConfigurationError with every fault at once: those of the file, and those of all files that it names
 */
export async function loadConfiguration(file: string, surroundings: Surroundings): Promise<BrokerConfiguration> {
  const content = await readYamlFile(file, surroundings.environment);
  return assertRight(await inspectContent(brokerKind, content, { file, ...surroundings }));
}

/** `loadConfiguration` for the file of an egress. */
export async function loadEgressConfiguration(file: string, surroundings: Surroundings): Promise<EgressConfiguration> {
  const content = await readYamlFile(file, surroundings.environment);
  return assertRight(await inspectContent(egressKind, content, { file, ...surroundings }));
}

function inspectContent<Settings, Configuration>(
  kind: ConfigurationKind<Settings, Configuration>,
  content: YamlContent,
  { file, ...surroundings }: Surroundings & { readonly file: string },
): Promise<Inspected<Configuration>> {
  return inspect(kind, examine(kind, content), { ...surroundings, folder: dirname(resolve(file)) });
}

interface Partly<Configuration> extends Omit<Inspected<Configuration>, 'faults'> {
  /**
   * Every fault in what could be checked and, unless only the structure is checked, the variables that are not set;
   * absent if only those are missing.
   */
  readonly error?: ConfigurationError;
  /** Settings that need a variable that is not set, in the order of the file. */
  readonly unset: readonly Fault[];
}

/** What is wrong in a configuration, and what could not be checked. */
export type PartlyChecked =
  | ({ readonly kind: 'broker' } & Partly<BrokerConfiguration>)
  | ({ readonly kind: 'egress' } & Partly<EgressConfiguration>);

/**
 * Checks a configuration file of either kind as far as possible without variables that are not set and, if requested,
 * without the files that it names: a build machine has none of the secrets.
 * @throws ConfigurationError if the file cannot be read
 */
export async function checkConfiguration(file: string, surroundings: Surroundings): Promise<PartlyChecked> {
  const content = await readYamlFile(file, surroundings.environment);
  const place = { file, ...surroundings };
  return isEgressFile(content)
    ? { kind: 'egress', ...partly(await inspectContent(egressKind, content, place), place) }
    : { kind: 'broker', ...partly(await inspectContent(brokerKind, content, place), place) };
}

function partly<Configuration>(
  { faults, ...found }: Inspected<Configuration>,
  { reads }: Pick<Surroundings, 'reads'>,
): Partly<Configuration> {
  const unset = faults.filter(({ variable }) => variable !== undefined);
  const wrong = faults.filter((fault) => !unset.includes(fault));
  const error = new ConfigurationError(reads === 'structure' ? wrong : faults, found.warnings);
  return { ...found, unset, ...(wrong.length > 0 && { error }) };
}

/** Whether the root member of a file, misspelt or not, says that it is for an egress. */
function isEgressFile({ tree = {} }: YamlContent): boolean {
  if (Object.hasOwn(tree, 'egress')) return true;
  return !Object.hasOwn(tree, 'merchants') && nearestName('egress', Object.keys(tree)) !== undefined;
}

/** Reads and checks the text of a broker's configuration file as `loadConfiguration` does, but no other file. */
export function parseConfiguration(text: string, environment: Environment): BrokerSettings & Findings {
  return parse(brokerKind, readYaml(text, environment));
}

/** `parseConfiguration` for the file of an egress. */
export function parseEgressConfiguration(text: string, environment: Environment): EgressSettings & Findings {
  const { egress, ...findings } = parse(egressKind, readYaml(text, environment));
  return { ...egress, ...findings };
}

function parse<Settings>(kind: ConfigurationKind<Settings, unknown>, content: YamlContent): Settings & Findings {
  const { settings, files, faults, places } = examine(kind, content);
  if (faults.length > 0) throw new ConfigurationError(located(places, faults));
  const warnings = told(kind.warnings, settings, []);
  return { ...(settings as Settings), files: files.map(asNamed), warnings, certificates: [] };
}

const asNamed = ({ path, file, rule }: FileSetting): NamedFile => ({ path, file, content: rule.kind });

/** The part of a broker's configuration that determines when it renews. */
export interface Schedule {
  readonly store: Pick<BrokerSettings['store'], 'type'>;
  readonly merchants: readonly { readonly id: string; readonly session: SessionSettings }[];
}

/** Paths without which there is no schedule; every other value may depend on a variable that is not set. */
const DECISIVE =
  /^store(?:\.type)?$|^merchants(?:\[\d+\](?:\.(?:id|session.*|gateway(?:\.(?:timeout|largestClockSkew|supersedes))?))?)?$/;

/**
 * Reads the settings that determine a broker's renewals: this needs no secret and reads no other file.
 * @throws ConfigurationError with every fault of the file, and with the unset variables that affect the schedule
 */
export async function readSchedule(file: string, environment: Environment): Promise<Schedule> {
  const { settings, faults, places } = examine(brokerKind, await readYamlFile(file, environment));
  const decisive = faults.filter(({ path, variable }) => variable === undefined || DECISIVE.test(path));
  if (decisive.length > 0) throw new ConfigurationError(located(places, decisive));
  const { store, merchants } = settings as BrokerSettings;
  return { store, merchants: merchants.map((merchant) => ({ id: merchant.id, session: sessionOptions(merchant) })) };
}

/** @throws ConfigurationError if the file cannot be read; faults in its content are not thrown yet */
export async function readYamlFile(file: string, environment: Environment): Promise<YamlContent> {
  const content = await readTextFile(file, MAX_FILE_BYTES);
  if (content.kind === 'text') return readYaml(content.text, environment);
  // A relative name leads elsewhere if the process runs in another folder than the reader thinks.
  const place = isAbsolute(file) ? file : `${file} (${resolve(file)})`;
  throw new ConfigurationError([{ path: WHOLE_FILE, problem: `${place} ${content.problem}` }]);
}
