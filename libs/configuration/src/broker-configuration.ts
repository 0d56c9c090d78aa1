import type { RecipientKey } from '#libs/jwe';
import type { SessionSettings } from '#libs/session';
import { brokerFileFaults, brokerRules, brokerWarnings } from './broker-rules.js';
import type { JsonWebKeySet } from './file-contents.js';
import type { Loaded } from './named-files.js';
import type { ConfigurationKind, Findings } from './rule.js';
import {
  type AuthSettings,
  type BrokerSettings,
  brokerSettings,
  type GatewaySettings,
  type HttpTlsSettings,
  type JwtSettings,
  type MerchantSettings,
  type StoreSettings,
} from './settings/broker-settings.js';
import type { HostAndPort } from './value-rule.js';

/** Everything that the broker and the command line need to know before they start. */
export interface BrokerConfiguration extends Omit<Loaded<BrokerSettings>, 'auth' | 'store' | 'merchants'>, Findings {
  readonly auth: Omit<AuthSettings, 'jwt'> & { readonly jwt?: JwtConfiguration };
  readonly store: StoreConfiguration;
  readonly merchants: readonly MerchantConfiguration[];
}

/** PEM texts. `clientCa`: who signs the callers' certificates. */
export type HttpTls = Loaded<HttpTlsSettings>;

/** `tokenFile`: an absolute path, read at each request, because its content is rotated. */
export interface JwtConfiguration extends Pick<JwtSettings, 'issuer' | 'audience' | 'types' | 'clockToleranceMs'> {
  readonly keys:
    | { readonly kind: 'set'; readonly set: JsonWebKeySet }
    | { readonly kind: 'uri'; readonly uri: URL; readonly tokenFile?: string; readonly ca?: string };
}

/** Where Redis is. */
type RedisPlace =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'sentinel'; readonly sentinels: readonly HostAndPort[]; readonly name: string }
  | { readonly kind: 'cluster'; readonly nodes: readonly HostAndPort[] };

type RedisSettings = Omit<Loaded<StoreSettings>, 'url' | 'sentinels' | 'name' | 'cluster' | 'type'>;
export type StoreConfiguration =
  | { readonly type: 'memory'; readonly keyPrefix: string }
  | (RedisSettings & { readonly type: 'redis'; readonly place: RedisPlace });

/** One merchant, ready for use: every file that it names has been read and checked. */
export interface MerchantConfiguration extends Omit<Loaded<MerchantSettings>, 'gateway' | 'session'> {
  readonly serviceCode: string;
  readonly gateway: Omit<Loaded<GatewaySettings>, 'requestData' | 'largestClockSkewMs'> & {
    readonly requestData:
      | { readonly attach: 'none' }
      | { readonly attach: 'body' | 'header'; readonly name: string; readonly recipient: RecipientKey };
  };
  readonly session: SessionSettings;
}

export const brokerKind: ConfigurationKind<BrokerSettings, Omit<BrokerConfiguration, keyof Findings>> = {
  fields: brokerSettings,
  rules: brokerRules,
  modules: ({ pkcs11 }) => pkcs11?.modules ?? [],
  fileFaults: brokerFileFaults,
  warnings: brokerWarnings,
  toConfiguration: ({ auth: { jwt, ...auth }, store, merchants, ...rest }) => ({
    ...rest,
    auth: { ...auth, ...(jwt && { jwt: jwtConfiguration(jwt) }) },
    store: storeConfiguration(store),
    merchants: merchants.map(merchantConfiguration),
  }),
};

function jwtConfiguration(settings: Loaded<JwtSettings>): JwtConfiguration {
  const { jwksUri, jwks, jwksToken, jwksCa, ...claims } = settings;
  if (jwksUri === undefined) return { ...claims, keys: { kind: 'set', set: assertSet(jwks) } };
  const trust = { ...(jwksToken && { tokenFile: jwksToken }), ...(jwksCa && { ca: jwksCa }) };
  return { ...claims, keys: { kind: 'uri', uri: jwksUri, ...trust } };
}

function merchantConfiguration(merchant: Loaded<MerchantSettings>): MerchantConfiguration {
  const { requestData, largestClockSkewMs: _ofTheSession, ...gateway } = merchant.gateway;
  const { attach, name, recipientKey } = requestData;
  return {
    ...merchant,
    serviceCode: assertSet(merchant.serviceCode),
    gateway: {
      ...gateway,
      requestData:
        attach === 'none' ? { attach } : { attach, name: assertSet(name), recipient: assertSet(recipientKey) },
    },
    session: sessionOptions(merchant),
  };
}

export function storeConfiguration(store: Loaded<StoreSettings>): StoreConfiguration {
  const { type, url, sentinels, name, cluster, ...rest } = store;
  if (type === 'memory') return { type, keyPrefix: rest.keyPrefix };
  if (url !== undefined) return { ...rest, type, place: { kind: 'url', url } };
  return sentinels.length > 0
    ? { ...rest, type, place: { kind: 'sentinel', sentinels, name: assertSet(name) } }
    : { ...rest, type, place: { kind: 'cluster', nodes: cluster } };
}

type Scheduled = Pick<MerchantSettings, 'session'> & { readonly gateway: Omit<GatewaySettings, 'requestData' | 'tls'> };

/** What governs the renewals of a merchant. */
export function sessionOptions({ session, gateway }: Scheduled): SessionSettings {
  return {
    renewBefore: undefined,
    safetyMargin: undefined,
    renewEveryMs: undefined,
    quietHours: undefined,
    ...session,
    gatewayTimeoutMs: gateway.timeoutMs,
    largestClockSkewMs: gateway.largestClockSkewMs,
    supersedes: gateway.supersedes,
  };
}

/** The rules have already proved it; this tells the compiler, and anyone who changes a rule. */
function assertSet<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('a setting that the rules guarantee is not there');
  return value;
}
