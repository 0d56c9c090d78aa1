import { isDeepStrictEqual } from 'node:util';
import {
  type BrokerConfiguration,
  changedBetween,
  differingSettings,
  isSame,
  namesBetween,
  pemCertificates,
} from '#libs/configuration';
import { tlsShape } from '#libs/edge';
import type { MerchantsChange } from '#libs/session';

/** Of merchants by id. `changed`: any of their settings or keys. */
export interface ConfigurationChange extends MerchantsChange {
  /**
   * Merchants that have changed, each with its settings that differ, such as `shop (gateway.timeout)`. Never a value.
   * Absent if there are none.
   */
  readonly ofMerchants?: readonly string[];
  /** Other settings that differ, such as `auth.policies`. Never a value. */
  readonly settings: readonly string[];
}

export function changeBetween(before: BrokerConfiguration, after: BrokerConfiguration): ConfigurationChange {
  const { names: changed, told } = changedBetween(before.merchants, after.merchants, {
    nameOf: ({ id }) => id,
    settingsBetween,
  });
  return {
    ...namesBetween(idsOf(before), idsOf(after)),
    changed,
    ...(told.length > 0 && { ofMerchants: told }),
    settings: (['http', 'auth', 'audit', 'pkcs11', 'reload', 'log'] as const).flatMap((section) =>
      differingSettings(section, before[section], after[section]),
    ),
  };
}

export function idsOf({ merchants }: Pick<BrokerConfiguration, 'merchants'>): readonly string[] {
  return merchants.map(({ id }) => id);
}

type Merchant = BrokerConfiguration['merchants'][number];

/** Settings that have another name in the file, or are in another section of it. */
const WRITTEN: Readonly<Record<string, string>> = {
  clientKeys: 'clientKeyFiles',
  'session.gatewayTimeout': 'gateway.timeout',
  'session.largestClockSkew': 'gateway.largestClockSkew',
  'session.supersedes': 'gateway.supersedes',
  'session.onStoreOutage': 'store.onStoreOutage',
};

function settingsBetween(before: Merchant, after: Merchant): readonly string[] {
  const { gateway, session, ...own } = before;
  const { gateway: nextGateway, session: nextSession, ...nextOwn } = after;
  const names = [
    ...differingSettings('', own, nextOwn),
    ...differingSettings('gateway', gateway, nextGateway),
    ...differingSettings('session', session, nextSession),
  ];
  return [...new Set(names.map((name) => WRITTEN[name] ?? name))];
}

/**
 * What determines how or when a create call is made: if it changes, the reason why the merchant failed before may be
 * gone.
 */
const CALL_SETTINGS = ['serviceCode', 'clientKeys', 'gateway', 'session'] as const satisfies (keyof Merchant)[];

/** By id, the merchants in both configurations whose create calls are made differently from now on. */
export function calledOtherwise(before: BrokerConfiguration, after: BrokerConfiguration): readonly string[] {
  const old = new Map(before.merchants.map((merchant) => [merchant.id, merchant]));
  return after.merchants
    .filter((merchant) => {
      const known = old.get(merchant.id);
      return known !== undefined && CALL_SETTINGS.some((setting) => !isSame(known[setting], merchant[setting]));
    })
    .map(({ id }) => id);
}

interface FixedConfiguration {
  /** The configuration to put in force: whatever cannot change while the process runs is as it was. */
  readonly configuration: BrokerConfiguration;
  /** Settings that differ from those in force and wait for a restart. */
  readonly awaitingRestart: readonly string[];
}

/** Sections whose servers, connections and files are opened only once. */
const FIXED_SECTIONS = ['management', 'store'] as const;

/**
 * Takes from a changed configuration whatever can change while the broker runs. Whether callers are checked at all is
 * fixed together with the address it depends on: otherwise, a file that moves to loopback and switches authentication
 * off would open up an address that is not loopback.
 */
export function withFixedSettings(current: BrokerConfiguration, next: BrokerConfiguration): FixedConfiguration {
  const awaitingRestart: string[] = [];
  const fixed = <Value>(path: string, ours: Value, theirs: Value): Value => {
    if (!isDeepStrictEqual(ours, theirs)) awaitingRestart.push(path);
    return ours;
  };
  const sections = FIXED_SECTIONS.map((name) => [name, fixed(name, current[name], next[name])]);
  const http = {
    ...next.http,
    host: fixed('http.host', current.http.host, next.http.host),
    port: fixed('http.port', current.http.port, next.http.port),
    docs: fixed('http.docs', current.http.docs, next.http.docs),
    connections: fixed('http.connections', current.http.connections, next.http.connections),
  };
  const auth = {
    ...next.auth,
    disabled: fixed('auth.disabled', current.auth.disabled, next.auth.disabled),
    mtls: fixed('auth.mtls', current.auth.mtls, next.auth.mtls),
  };
  const audit = {
    ...next.audit,
    destination: fixed('audit.destination', current.audit.destination, next.audit.destination),
  };
  const tls = tlsOf(current.http.tls, next.http.tls);
  fixed('http.tls', tlsShape(current.http.tls), tlsShape(next.http.tls));
  const { tls: _, ...plain } = http;
  return {
    configuration: {
      ...next,
      ...(Object.fromEntries(sections) as Pick<BrokerConfiguration, (typeof FIXED_SECTIONS)[number]>),
      http: { ...plain, ...(tls === undefined ? {} : { tls }) },
      auth,
      audit,
    },
    awaitingRestart,
  };
}

type Tls = BrokerConfiguration['http']['tls'];

function tlsOf(current: Tls, next: Tls): Tls {
  return tlsShape(current) === tlsShape(next) ? next : current;
}

type OfHttp = Pick<BrokerConfiguration, 'http'>;

/** Whether an authority that issued callers' certificates is no longer trusted. */
export function authoritiesShrank(before: OfHttp, after: OfHttp): boolean {
  const next = new Set(authoritiesOf(after));
  return authoritiesOf(before).some((certificate) => !next.has(certificate));
}

function authoritiesOf({ http }: OfHttp): readonly string[] {
  return pemCertificates(http.tls?.clientCa ?? '').map((block) => block.replace(/\s/g, ''));
}
