export type {
  BrokerConfiguration,
  HttpTls,
  JwtConfiguration,
  MerchantConfiguration,
  ParsedConfiguration,
  StoreConfiguration,
} from './broker-configuration.js';
export type { ParsedEgressConfiguration } from './egress-kind.js';
export type { EgressClient, EgressConfiguration, EgressRoute } from './egress-configuration.js';
export { checkConfiguration } from './check-configuration.js';
export { ConfigurationSource, EgressConfigurationSource } from './configuration-source.js';
export { ConfigurationWatch } from './configuration-watch.js';
export { ConfigurationError, type Warning } from './fault.js';
export type { Environment } from './interpolate.js';
export { isSame } from './is-same.js';
export { type AnyConfiguration, loadAnyConfiguration } from './load-configuration.js';
export { readSchedule, type Schedule } from './read-schedule.js';
export { configurationKindOf, loadConfiguration, loadEgressConfiguration } from './load-configuration.js';
export type { BrokerParts, EgressParts, MerchantParts, Part } from './known-parts.js';
export { nearestName } from './nearest-name.js';
export type { NamedFile } from './named-files.js';
export { assertFewRemoved, TooManyRemoved } from './removal-bound.js';
export { parseConfiguration, parseEgressConfiguration } from './parse-configuration.js';
export { isCallerName, MERCHANT_ID } from './value-rule.js';
export { namesBetween, type NamesBetween } from './names-between.js';
export { pemCertificates } from './pem-certificates.js';
export { pemRemedy } from './pem-remedy.js';
export { writtenAddress } from './written-address.js';
export { EVERY_MERCHANT, type Permission } from './settings/auth-settings.js';
