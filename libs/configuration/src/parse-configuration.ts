import { crossFaults } from './broker-rules.js';
import { checkSettings, type Loose } from './check-settings.js';
import { deepFreeze } from './deep-freeze.js';
import { ConfigurationError, type Fault, inOrderOf, notCausedBy, type Warning, withoutFollowers } from './fault.js';
import type { Environment } from './interpolate.js';
import type { FileSetting } from './named-files.js';
import { toParsed } from './arrange-options.js';
import type { ParsedConfiguration } from './broker-configuration.js';
import { quietHoursWarnings } from './quiet-hours-rules.js';
import { readYaml } from './read-yaml.js';
import { BrokerSettings } from './settings/broker-settings.js';

/** A configuration as far as it can be understood. */
export interface Examined {
  /** Complete when there are no faults. */
  readonly settings: Loose<BrokerSettings>;
  /** The files that correct settings name, in the order of the file. */
  readonly files: readonly FileSetting[];
  readonly faults: readonly Fault[];
  /** Every path of the file, with its place in the order of the file. */
  readonly places: ReadonlyMap<string, number>;
}

/**
 * Reads and checks a configuration file's text: syntax, placeholders, structure, each value, and the rules between
 * settings. Looks at no other file.
 */
export function examine(text: string, environment: Environment): Examined {
  const { tree, placeholders, places, faults } = readYaml(text, environment);
  if (tree === undefined) return { settings: {}, files: [], faults, places };
  const checked = checkSettings(tree, BrokerSettings, placeholders);
  const own = withoutFollowers([...faults, ...checked.faults]);
  return {
    settings: checked.settings,
    files: inOrderOf(places, checked.files),
    faults: [...own, ...notCausedBy(own, crossFaults(checked.settings))],
    places,
  };
}

/**
 * Reads and checks a configuration file's text as `examine` does.
 * @param environment where `${NAME}` is taken from
 * @returns frozen options with every default filled in
 * @throws ConfigurationError with every fault at once, each with its path; never with a value
 */
export function parseConfiguration(text: string, environment: Environment): ParsedConfiguration {
  const examined = examine(text, environment);
  const { faults, places } = examined;
  if (faults.length > 0) throw new ConfigurationError(inOrderOf(places, faults));
  return parsedOf(examined);
}

/** @param examined without faults */
export function parsedOf({ settings, files }: Examined): ParsedConfiguration {
  const parsed = toParsed(settings as BrokerSettings);
  const named = files.map(({ path, file, content }) => ({ path, file, content: content.kind }));
  return deepFreeze({ ...parsed, files: named, warnings: warningsOf(parsed) });
}

function warningsOf({ auth, merchants }: Pick<ParsedConfiguration, 'auth' | 'merchants'>): Warning[] {
  return [...accessWarnings(auth), ...outageWarnings(merchants), ...quietHoursWarnings(merchants)];
}

/** Replicas that create for themselves end each other's sessions, and payments made with one of those are refused. */
function outageWarnings(merchants: ParsedConfiguration['merchants']): Warning[] {
  const problem = "is authorize, but a new session may end the one before it: in an outage replicas end each other's";
  return merchants.some(({ session }) => session.onStoreOutage === 'authorize' && session.supersedes !== false)
    ? [{ path: 'store.onStoreOutage', problem }]
    : [];
}

function accessWarnings(auth: ParsedConfiguration['auth']): Warning[] {
  const permitted = new Set(auth.policies.map((policy) => policy.caller));
  const idle = auth.tokens.flatMap(({ caller }, index) =>
    permitted.has(caller)
      ? []
      : [{ path: `auth.tokens[${index}].caller`, problem: 'has no policy and may do nothing' }],
  );
  const closed = auth.tokens.length === 0 && auth.jwt === undefined && !auth.mtls && !auth.disabled;
  return closed ? [{ path: 'auth.tokens', problem: 'is empty: nobody can use the API' }] : idle;
}
