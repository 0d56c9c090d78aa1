import { parseDurationMs } from '#libs/clock';
import type { SessionSettings } from '#libs/session';
import { parseLeadTime } from './lead-time.js';
import type {
  BaseGateway,
  HostAndPort,
  ParsedConfiguration,
  ParsedJwt,
  ParsedMerchant,
  ParsedRequestData,
  ParsedStore,
  RedisPlace,
} from './parsed-configuration.js';
import type { AuthSettings } from './settings/auth-settings.js';
import type { BrokerSettings } from './settings/broker-settings.js';
import type { GatewaySettings } from './settings/gateway-settings.js';
import type { HttpSettings } from './settings/http-settings.js';
import type { JwtSettings } from './settings/jwt-settings.js';
import type { MerchantSettings } from './settings/merchant-settings.js';
import type { RequestDataSettings } from './settings/request-data-settings.js';
import type { StoreSettings } from './settings/store-settings.js';

/** From checked settings to plain options: text becomes URLs, milliseconds and lead times. */
export function toParsed(settings: BrokerSettings): Omit<ParsedConfiguration, 'warnings' | 'files'> {
  const { http, management, store, auth, audit, reload, log } = settings;
  return {
    http: toHttp(http),
    management: { ...management },
    store: toStore(store),
    auth: toAuth(auth),
    audit: { destination: audit.destination, readEvery: audit.readEvery },
    reload: { watch: reload.watch, everyMs: durationMs(reload.every) },
    log: { level: log.level },
    merchants: settings.merchants.map((merchant) => toMerchant(merchant, store)),
  };
}

function toHttp({ host, port, docs, maxWatchers, rateLimit, tls }: HttpSettings): ParsedConfiguration['http'] {
  return {
    host,
    port,
    docs,
    maxWatchers,
    rateLimit: { perSecond: rateLimit.perSecond, burst: rateLimit.burst },
    ...(tls === undefined ? {} : { tls: { ...tls } }),
  };
}

function toAuth({ disabled, tokens, policies, mtls, jwt }: AuthSettings): ParsedConfiguration['auth'] {
  return {
    disabled,
    tokens: tokens.map(({ caller, sha256 }) => ({ caller, sha256: sha256.toLowerCase() })),
    policies: policies.map(({ caller, merchants, allow }) => ({ caller, merchants, allow })),
    mtls,
    ...(jwt === undefined ? {} : { jwt: toJwt(jwt) }),
  };
}

function toJwt({ issuer, audience, clockTolerance, ...place }: JwtSettings): ParsedJwt {
  const { jwksUri, jwksFile, jwksTokenFile, jwksCaFile } = place;
  const base = { issuer, audience, clockToleranceMs: durationMs(clockTolerance) };
  if (jwksUri === undefined) return { ...base, keys: { kind: 'file', file: assertSet(jwksFile) } };
  return {
    ...base,
    keys: {
      kind: 'uri',
      uri: new URL(jwksUri),
      ...(jwksTokenFile === undefined ? {} : { tokenFile: jwksTokenFile }),
      ...(jwksCaFile === undefined ? {} : { caFile: jwksCaFile }),
    },
  };
}

function toMerchant(merchant: MerchantSettings, store: StoreSettings): ParsedMerchant {
  const { id, required, clientKeyFiles, gateway } = merchant;
  const { caFile, pins } = gateway.tls;
  return {
    id,
    required,
    clientKeyFiles,
    serviceCode:
      merchant.serviceCodeFile === undefined
        ? { kind: 'value', value: assertSet(merchant.serviceCode) }
        : { kind: 'file', file: merchant.serviceCodeFile },
    gateway: {
      ...toGateway(gateway),
      requestData: toRequestData(gateway.requestData),
      tls: { pins, ...(caFile === undefined ? {} : { caFile }) },
    },
    session: toSession(merchant, store),
  };
}

function toStore(store: StoreSettings): ParsedStore {
  const { type, keyPrefix, username, passwordFile, tls } = store;
  if (type === 'memory') return { type, keyPrefix };
  return {
    type,
    keyPrefix,
    place: toPlace(store),
    ...(username === undefined ? {} : { username }),
    ...(passwordFile === undefined ? {} : { passwordFile }),
    ...(tls === undefined ? {} : { tls: { ...tls } }),
  };
}

function toPlace({ url, sentinels, name, cluster }: StoreSettings): RedisPlace {
  if (url !== undefined) return { kind: 'url', url };
  if (sentinels.length > 0) return { kind: 'sentinel', sentinels: sentinels.map(toAddress), name: assertSet(name) };
  return { kind: 'cluster', nodes: cluster.map(toAddress) };
}

function toAddress(text: string): HostAndPort {
  const colon = text.lastIndexOf(':');
  return { host: text.slice(0, colon).replace(/^\[(.*)\]$/, '$1'), port: Number(text.slice(colon + 1)) };
}

function toGateway(gateway: GatewaySettings): BaseGateway {
  const { baseUrl, environment, testBaseUrl, timeout, supersedes, proxy } = gateway;
  return {
    baseUrl: new URL(baseUrl),
    environment,
    timeoutMs: durationMs(timeout),
    supersedes,
    ...(testBaseUrl === undefined ? {} : { testBaseUrl: new URL(testBaseUrl) }),
    ...(proxy === undefined ? {} : { proxy: new URL(proxy) }),
  };
}

function toRequestData({ attach, name, recipientKeyFile }: RequestDataSettings): ParsedRequestData {
  if (attach === 'none') return { attach };
  return { attach, name: assertSet(name), recipientKeyFile: assertSet(recipientKeyFile) };
}

function toSession({ session, gateway }: MerchantSettings, store: StoreSettings): SessionSettings {
  const { renewBefore, safetyMargin, fallbackLifetime, longestLifetime, budget } = session;
  return {
    renewBefore: renewBefore === undefined ? undefined : parseLeadTime(renewBefore),
    safetyMargin: safetyMargin === undefined ? undefined : parseLeadTime(safetyMargin),
    fallbackLifetimeMs: durationMs(fallbackLifetime),
    gatewayTimeoutMs: durationMs(gateway.timeout),
    budget: { calls: budget.calls, windowMs: durationMs(budget.window) },
    longestLifetimeMs: durationMs(longestLifetime),
    largestClockSkewMs: durationMs(gateway.largestClockSkew),
    supersedes: gateway.supersedes,
    onStoreOutage: store.onStoreOutage ?? (gateway.supersedes === false ? 'authorize' : 'fail'),
  };
}

function durationMs(text: string): number {
  return assertSet(parseDurationMs(text));
}

/** The rules have proved it; this says so to the compiler, and to whoever changes a rule. */
function assertSet<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('a setting that the rules guarantee is not there');
  return value;
}
