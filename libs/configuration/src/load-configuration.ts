import { dirname, isAbsolute, resolve } from 'node:path';
import type { Clock } from '#libs/clock';
import type { SessionSettings } from '#libs/session';
import { type BrokerConfiguration, brokerKind, sessionOptions } from './broker-configuration.js';
import { certificateWarnings } from './certificates.js';
import { checkSettings, type Loose } from './check-settings.js';
import type { ConfigurationKind, Findings } from './configuration-kind.js';
import { type EgressConfiguration, egressKind } from './egress-configuration.js';
import { ConfigurationError, type Fault, faultyAmong, inOrderOf, located, MAX_FAULTS } from './fault.js';
import { type Places, type Warning, WHOLE_FILE, withoutFollowers } from './fault.js';
import { type FileSetting, type Loaded, type NamedFile, readFiles, withContents } from './named-files.js';
import { nearestName } from './nearest-name.js';
import { readTextFile } from './read-file.js';
import type { Environment } from './interpolate.js';
import { MAX_FILE_BYTES, readYaml, type UnsetVariable, type YamlContent } from './read-yaml.js';
import { faultSaid, type Rule } from './rule.js';
import type { BrokerSettings } from './settings/broker-settings.js';
import type { EgressSettings } from './settings/egress-settings.js';

/** What is needed to read a configuration, besides its files. */
export interface Surroundings {
  /** Where `${NAME}` is taken from. */
  readonly environment: Environment;
  /** Decides which certificates are valid. */
  readonly clock: Pick<Clock, 'now'>;
  /** False: a key in a token is read from its file alone, and no PKCS#11 module is run. */
  readonly asksTokens?: boolean;
}

/** A configuration as far as it can be understood. */
export interface Examined<Settings> {
  /** Complete when there are no faults. */
  readonly settings: Loose<Settings>;
  /** The files that correct settings name, in the order of the file. */
  readonly files: readonly FileSetting[];
  readonly faults: readonly Fault[];
  /** Values that need a variable that is not set; each is also among the faults. */
  readonly unset: readonly UnsetVariable[];
  readonly places: Places;
  /** The file is not YAML, or so much is wrong that checking stopped before the end. */
  readonly hasMore: boolean;
}

/** Checks the content of a configuration file: structure, each value, and the rules between settings. */
export function examine<Settings>(
  { fields, rules }: Pick<ConfigurationKind<Settings, unknown>, 'fields' | 'rules'>,
  { tree, placeholders, ...read }: YamlContent,
): Examined<Settings> {
  if (tree === undefined) return { ...read, settings: {} as Loose<Settings>, files: [], hasMore: true };
  const checked = checkSettings(tree, fields, placeholders);
  const settings = checked.settings as Loose<Settings>;
  const own = withoutFollowers([...read.faults, ...checked.faults]);
  const hasMore = checked.faults.length >= MAX_FAULTS;
  // Contradictions between settings would only follow from what was left out.
  const between = hasMore ? [] : told(rules, settings, own);
  return { ...read, settings, files: inOrderOf(read.places, checked.files), faults: [...own, ...between], hasMore };
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

interface Reading extends Omit<Surroundings, 'environment'> {
  /** Where relative paths start. */
  readonly folder: string;
  /** False: the named files are left alone. */
  readonly readsFiles?: boolean;
}

interface Looked<Settings> {
  readonly settings: Loaded<Loose<Settings>>;
  readonly ofFiles: readonly Fault[];
  /** About everything that is free of faults, located. */
  readonly warnings: readonly Warning[];
  readonly named: readonly NamedFile[];
}

/** Reads every file that an examined configuration names, even if it already has faults. */
export async function look<Settings>(
  kind: ConfigurationKind<Settings, unknown>,
  { settings, files, faults, places }: Examined<Settings>,
  { folder, clock, readsFiles = true, asksTokens = true }: Reading,
): Promise<Looked<Settings>> {
  const modules = kind.modules(settings).filter((module) => module !== undefined);
  const read = await readFiles(readsFiles ? files : [], { folder, tokens: { modules, asks: asksTokens } });
  const loaded = withContents(settings, read.contents);
  const isFaulty = faultyAmong(faults);
  const between = readsFiles ? [...kind.fileFaults(loaded, settings)].map(faultSaid) : [];
  const ofFiles = [...read.faults, ...between].filter(({ path }) => !isFaulty(path));
  const causes = [...faults, ...ofFiles];
  const isCaused = faultyAmong(causes);
  const found = [
    ...read.warnings,
    ...(readsFiles ? [...kind.fileWarnings(loaded)].map(faultSaid) : []),
    ...certificateWarnings({ files, contents: read.contents, now: clock.now() }),
  ].filter(({ path }) => !isCaused(path));
  return {
    settings: loaded,
    ofFiles,
    warnings: located(places, [...told(kind.warnings, settings, causes), ...found]),
    named: files.map(asNamed),
  };
}

/** @throws ConfigurationError with the faults of all files and of the configuration, in the order of the latter */
export async function loadExamined<Settings, Configuration>(
  kind: ConfigurationKind<Settings, Configuration>,
  examined: Examined<Settings>,
  reading: Reading,
): Promise<Configuration & Findings> {
  const { settings, ofFiles, warnings, named } = await look(kind, examined, reading);
  const faults = [...examined.faults, ...ofFiles];
  if (faults.length > 0) throw new ConfigurationError(located(examined.places, faults), examined);
  const configuration = kind.toConfiguration(settings as unknown as Loaded<Settings>);
  return deepFreeze({ ...configuration, files: named, warnings });
}

/**
 * Reads the configuration file of a broker and every file that it names; relative paths start at the folder of the file.
 * @throws ConfigurationError with every fault at once: those of the file, and those of all files that it names
 */
export async function loadConfiguration(file: string, surroundings: Surroundings): Promise<BrokerConfiguration> {
  return await load(brokerKind, file, surroundings);
}

/** `loadConfiguration` for the file of an egress. */
export async function loadEgressConfiguration(file: string, surroundings: Surroundings): Promise<EgressConfiguration> {
  return await load(egressKind, file, surroundings);
}

async function load<Settings, Configuration>(
  kind: ConfigurationKind<Settings, Configuration>,
  file: string,
  { environment, ...reading }: Surroundings,
): Promise<Configuration & Findings> {
  const examined = examine(kind, await readYamlFile(file, environment));
  return await loadExamined(kind, examined, { folder: dirname(resolve(file)), ...reading });
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
  const { settings, files, faults, places, hasMore } = examine(kind, content);
  if (faults.length > 0) throw new ConfigurationError(located(places, faults), { hasMore });
  return deepFreeze({
    ...(settings as Settings),
    files: files.map(asNamed),
    warnings: told(kind.warnings, settings, []),
  });
}

const asNamed = ({ path, file, rule }: FileSetting): NamedFile => ({ path, file, content: rule.kind });

/** The part of a broker's configuration that determines when it renews. */
export interface Schedule {
  readonly store: Pick<BrokerSettings['store'], 'type'>;
  readonly merchants: readonly { readonly id: string; readonly session: SessionSettings }[];
}

/** Paths without which there is no schedule; every other value may depend on a variable that is not set. */
const DECISIVE =
  /^(?:store(?:\.type)?|merchants(?:\[\d+\](?:\.(?:id|session.*|gateway(?:\.(?:timeout|largestClockSkew|supersedes))?))?)?)$/;

/**
 * Reads the settings that determine a broker's renewals: this needs no secret and reads no other file.
 * @throws ConfigurationError with every fault of the file, and with the unset variables that affect the schedule
 */
export async function readSchedule(file: string, environment: Environment): Promise<Schedule> {
  const { settings, faults, unset, places, hasMore } = examine(brokerKind, await readYamlFile(file, environment));
  const idle = new Set(unset.map(({ path }) => path).filter((path) => !DECISIVE.test(path)));
  const decisive = faults.filter(({ path }) => !idle.has(path));
  if (decisive.length > 0) throw new ConfigurationError(located(places, decisive), { hasMore });
  const { store, merchants } = settings as BrokerSettings;
  return {
    store,
    merchants: merchants.map((merchant) => ({ id: merchant.id, session: sessionOptions(merchant) })),
  };
}

/** Whether the root member of a file, misspelt or not, says that it is for an egress. */
export function isEgressFile({ tree }: YamlContent): boolean {
  if (typeof tree !== 'object') return false;
  if (Object.hasOwn(tree, 'egress')) return true;
  return !Object.hasOwn(tree, 'merchants') && nearestName('egress', Object.keys(tree)) !== undefined;
}

type Kind = 'broker' | 'egress';

/** The kind of a file, by a root member that only that kind has; undefined if it has neither, or cannot be read. */
export async function configurationKindOf(file: string, environment: Environment): Promise<Kind | undefined> {
  const found = await readTextFile(file, MAX_FILE_BYTES);
  if (found.kind === 'fault') return undefined;
  const content = readYaml(found.text, environment);
  if (isEgressFile(content)) return 'egress';
  return typeof content.tree === 'object' && Object.hasOwn(content.tree, 'merchants') ? 'broker' : undefined;
}

/** @throws ConfigurationError if the file cannot be read; faults in its content are not thrown yet */
export async function readYamlFile(file: string, environment: Environment): Promise<YamlContent> {
  const content = await readTextFile(file, MAX_FILE_BYTES);
  if (content.kind === 'text') return readYaml(content.text, environment);
  // A relative name leads elsewhere if the process runs in another folder than the reader thinks.
  const place = isAbsolute(file) ? file : `${file} (${resolve(file)})`;
  throw new ConfigurationError([{ path: WHOLE_FILE, problem: `${place} ${content.problem}` }]);
}

/** Freezes plain objects and arrays all the way down; keys and URLs are left as they are. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}
