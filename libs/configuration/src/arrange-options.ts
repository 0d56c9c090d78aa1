import type { SessionSettings } from '#libs/session';
import type {
  BrokerConfiguration,
  JwtConfiguration,
  MerchantConfiguration,
  ParsedConfiguration,
  Store,
} from './broker-configuration.js';
import type { Loaded } from './named-files.js';
import type { JwtSettings } from './settings/auth-settings.js';
import type { BrokerSettings } from './settings/broker-settings.js';
import type { MerchantSettings } from './settings/merchant-settings.js';
import type { StoreSettings } from './settings/store-settings.js';

type Without<Configuration> = Omit<Configuration, 'files' | 'warnings'>;

/** Before or after the files have been read. */
type Either<Settings> = Settings | Loaded<Settings>;

/** Turns settings without faults into options that still name files. */
export function toParsed(settings: BrokerSettings): Without<ParsedConfiguration> {
  return {
    ...settings,
    store: storeOptions(settings.store),
    merchants: settings.merchants.map((merchant) => ({
      ...merchant,
      session: sessionOptions(merchant, settings.store),
    })),
  };
}

/** Turns settings without faults, with the contents of their files, into the options that the program works with. */
export function toConfiguration(settings: Loaded<BrokerSettings>): Without<BrokerConfiguration> {
  const { jwt, ...auth } = settings.auth;
  return {
    ...settings,
    auth: { ...auth, ...given({ jwt: jwt && jwtConfiguration(jwt) }) },
    store: storeOptions(settings.store),
    merchants: settings.merchants.map((merchant) => merchantConfiguration(merchant, settings.store)),
  };
}

/** Who issues the callers' tokens, and where its keys are. */
export function jwtConfiguration({
  jwksUri,
  jwks,
  jwksToken,
  jwksCa,
  ...claims
}: Loaded<JwtSettings>): JwtConfiguration {
  const keys: JwtConfiguration['keys'] =
    jwksUri === undefined
      ? { kind: 'set', set: assertSet(jwks) }
      : { kind: 'uri', uri: jwksUri, ...given({ tokenFile: jwksToken, ca: jwksCa }) };
  return { ...claims, keys };
}

function merchantConfiguration(
  merchant: Loaded<MerchantSettings>,
  store: Loaded<StoreSettings>,
): MerchantConfiguration {
  return {
    ...merchant,
    serviceCode: assertSet(merchant.serviceCode),
    gateway: gatewayConfiguration(merchant.gateway),
    session: sessionOptions(merchant, store),
  };
}

/** How the gateway of a merchant is reached. */
export function gatewayConfiguration({
  requestData,
  largestClockSkewMs: _ofTheSession,
  ...gateway
}: Loaded<MerchantSettings>['gateway']): MerchantConfiguration['gateway'] {
  const { attach, name, recipientKey } = requestData;
  return {
    ...gateway,
    requestData: attach === 'none' ? { attach } : { attach, name: assertSet(name), recipient: assertSet(recipientKey) },
  };
}

/** Where the store is. */
export function storeOptions<Settings extends Either<StoreSettings>>(store: Settings): Store<Settings> {
  const { type, onStoreOutage: _ofEachMerchant, url, sentinels, name, cluster, ...rest } = store;
  if (type === 'memory') return { type, keyPrefix: rest.keyPrefix };
  if (url !== undefined) return { ...rest, type, place: { kind: 'url', url } };
  return sentinels.length > 0
    ? { ...rest, type, place: { kind: 'sentinel', sentinels, name: assertSet(name) } }
    : { ...rest, type, place: { kind: 'cluster', nodes: cluster } };
}

/** What governs the renewals of a merchant. */
export function sessionOptions(
  { session, gateway }: Either<MerchantSettings>,
  { onStoreOutage }: Either<StoreSettings>,
): SessionSettings {
  return {
    renewBefore: undefined,
    safetyMargin: undefined,
    renewEveryMs: undefined,
    quietHours: undefined,
    ...session,
    gatewayTimeoutMs: gateway.timeoutMs,
    largestClockSkewMs: gateway.largestClockSkewMs,
    supersedes: gateway.supersedes,
    onStoreOutage: onStoreOutage ?? (gateway.supersedes === false ? 'authorize' : 'fail'),
  };
}

/** Only the members that are set. */
function given<T extends object>(members: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
}

/** The rules have already proved it; this tells the compiler, and anyone who changes a rule. */
function assertSet<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('a setting that the rules guarantee is not there');
  return value;
}
