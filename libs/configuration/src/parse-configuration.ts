import { brokerRules } from './broker-rules.js';
import { storeRule } from './store-rules.js';
import { checkShape } from './check-shape.js';
import { checkValues, type Loose } from './check-values.js';
import { deepFreeze } from './deep-freeze.js';
import { type KeyUse, keysSharedWithTest } from './environment-rules.js';
import { ConfigurationError, type Fault, inOrderOf, notCausedBy, type Warning, withoutFollowers } from './fault.js';
import type { Environment } from './interpolate.js';
import { merchantFaults } from './merchant-rules.js';
import { namedFiles } from './named-files.js';
import type { ParsedConfiguration } from './parsed-configuration.js';
import { readYaml } from './read-yaml.js';
import { BrokerSettings } from './settings/broker-settings.js';
import type { MerchantSettings } from './settings/merchant-settings.js';
import { toParsed } from './to-parsed.js';

/**
 * Reads and checks a configuration file's text: syntax, placeholders, structure, each value, and the rules between
 * settings. Looks at no other file.
 * @param environment where `${NAME}` is taken from
 * @returns frozen options with every default filled in
 * @throws ConfigurationError with every fault at once, each with its path; never with a value
 */
export function parseConfiguration(text: string, environment: Environment): ParsedConfiguration {
  const content = readYaml(text, environment);
  if (content.tree === undefined) throw new ConfigurationError(content.faults);
  const shaped = checkShape(content.tree, BrokerSettings, content.placeholders);
  const checked = checkValues(shaped.tree, BrokerSettings);
  const own = withoutFollowers([...content.faults, ...shaped.faults, ...checked.faults]);
  const faults = [...own, ...notCausedBy(own, crossFaults(checked.settings))];
  if (faults.length > 0) throw new ConfigurationError(inOrderOf(content.places, faults));
  const parsed = { ...toParsed(checked.settings as BrokerSettings), files: namedFiles(checked.settings) };
  return deepFreeze({ ...parsed, warnings: warningsOf(parsed) });
}

function crossFaults(settings: Loose<BrokerSettings>): Fault[] {
  const merchants = settings.merchants ?? [];
  return [
    ...[...brokerRules, storeRule].flatMap((rule) => rule(settings)),
    ...merchantFaults(merchants),
    ...keysSharedWithTest(merchants.flatMap(keyUses)),
  ];
}

function keyUses(merchant: Loose<MerchantSettings> | undefined, index: number): KeyUse[] {
  const environment = merchant?.gateway?.environment;
  if (environment === undefined) return [];
  return (merchant?.clientKeyFiles ?? []).flatMap((key, file) =>
    key === undefined ? [] : [{ key, environment, path: `merchants[${index}].clientKeyFiles[${file}]` }],
  );
}

function warningsOf({ auth, merchants }: Omit<ParsedConfiguration, 'warnings'>): Warning[] {
  return [...accessWarnings(auth), ...outageWarnings(merchants)];
}

/** Replicas that create for themselves end each other's sessions, and whoever pays with one of them is refused. */
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
