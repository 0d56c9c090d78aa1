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

/**
 * Takes from a changed configuration whatever can change while the broker runs: what servers, connections and files are
 * opened with is not. Whether callers are checked at all is fixed together with the address it depends on: otherwise, a
 * file that moves to loopback and switches authentication off would open up an address that is not loopback.
 */
export function withFixedSettings(current: BrokerConfiguration, next: BrokerConfiguration): FixedConfiguration {
  const { management, store } = current;
  const { host, port, docs, connections } = current.http;
  const { tls: nextTls, ...http } = next.http;
  const tls = tlsShape(current.http.tls) === tlsShape(nextTls) ? nextTls : current.http.tls;
  const configuration: BrokerConfiguration = {
    ...next,
    management,
    store,
    http: { ...http, host, port, docs, connections, ...(tls === undefined ? {} : { tls }) },
    auth: { ...next.auth, disabled: current.auth.disabled, mtls: current.auth.mtls },
    audit: { ...next.audit, destination: current.audit.destination },
  };
  const whole = differingSettings('', { management, store }, { management: next.management, store: next.store });
  const settings = (['http', 'auth', 'audit'] as const).flatMap((section) =>
    differingSettings(section, configuration[section], next[section]),
  );
  return { configuration, awaitingRestart: [...whole, ...settings] };
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
