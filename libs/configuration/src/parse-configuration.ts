import type { ParsedConfiguration } from './broker-configuration.js';
import { brokerKind } from './broker-kind.js';
import { checkSettings, type Loose } from './check-settings.js';
import type { ConfigurationKind, Findings } from './configuration-kind.js';
import { deepFreeze } from './deep-freeze.js';
import { type ParsedEgressConfiguration, egressKind } from './egress-kind.js';
import { ConfigurationError, type Fault, inOrderOf, located, MAX_FAULTS } from './fault.js';
import { notCausedBy, type Place, withoutFollowers } from './fault.js';
import type { Environment } from './interpolate.js';
import type { FileSetting } from './named-files.js';
import { readYaml, type YamlContent } from './read-yaml.js';

/** A configuration as far as it can be understood. */
export interface Examined<Settings> {
  /** Complete when there are no faults. */
  readonly settings: Loose<Settings>;
  /** The files that correct settings name, in the order of the file. */
  readonly files: readonly FileSetting[];
  readonly faults: readonly Fault[];
  /** Every path in the file, with its place. */
  readonly places: ReadonlyMap<string, Place>;
  /** The file is not YAML, or so much is wrong that checking stopped before the end. */
  readonly hasMore: boolean;
}

/**
 * Checks the content of a configuration file: structure, each value, and the rules between settings. Reads no other
 * file.
 */
export function examine<Settings extends object>(
  { settings, rule }: Pick<ConfigurationKind<Settings, unknown, unknown>, 'settings' | 'rule'>,
  { tree, placeholders, places, faults, unset }: YamlContent,
): Examined<Settings> {
  if (tree === undefined) {
    return { settings: {} as Loose<Settings>, files: [], faults, places, hasMore: true };
  }
  const checked = checkSettings(tree, settings, placeholders);
  const own = withoutFollowers([...faults, ...checked.faults]);
  const hasMore = checked.faults.length >= MAX_FAULTS;
  // Contradictions between settings would only follow from what was left out.
  const between = notCausedBy([...own, ...unset], hasMore ? [] : rule(checked.settings));
  return {
    settings: checked.settings,
    files: inOrderOf(places, checked.files),
    faults: [...own, ...between],
    places,
    hasMore,
  };
}

/**
 * Reads and checks the text of a broker's configuration file: syntax, placeholders, and all that `examine` checks.
 * @param environment where `${NAME}` is taken from
 * @returns frozen options with every default filled in
 * @throws ConfigurationError with every fault at once, each with its path; never with a value
 */
export function parseConfiguration(text: string, environment: Environment): ParsedConfiguration {
  return parse(brokerKind, readYaml(text, environment));
}

/** `parseConfiguration` for the file of an egress. */
export function parseEgressConfiguration(text: string, environment: Environment): ParsedEgressConfiguration {
  return parse(egressKind, readYaml(text, environment));
}

function parse<Settings extends object, Parsed, Configuration>(
  kind: ConfigurationKind<Settings, Parsed, Configuration>,
  content: YamlContent,
): Parsed & Findings {
  const examined = examine(kind, content);
  const { faults, places } = examined;
  if (faults.length > 0) throw new ConfigurationError(located(places, faults), examined);
  return parsedOf(kind, examined);
}

/** @param examined must have no faults */
export function parsedOf<Settings extends object, Parsed, Configuration>(
  { toParsed, warningsOf }: ConfigurationKind<Settings, Parsed, Configuration>,
  { settings, files }: Examined<Settings>,
): Parsed & Findings {
  const named = files.map(({ path, file, content }) => ({ path, file, content: content.kind }));
  const warnings = notCausedBy([], warningsOf(settings));
  return deepFreeze({ ...toParsed(settings as unknown as Settings), files: named, warnings });
}
