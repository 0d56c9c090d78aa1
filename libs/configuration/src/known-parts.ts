import { jwtConfiguration, storeOptions } from './arrange-options.js';
import type { JwtConfiguration, MerchantConfiguration, StoreConfiguration } from './broker-configuration.js';
import type { Loose } from './check-settings.js';
import type { EgressConfiguration } from './egress-configuration.js';
import type { Loaded } from './named-files.js';
import type { JwtSettings } from './settings/auth-settings.js';
import type { BrokerSettings } from './settings/broker-settings.js';
import type { EgressDocument } from './settings/egress-settings.js';
import type { MerchantSettings } from './settings/merchant-settings.js';
import type { StoreSettings } from './settings/store-settings.js';

/** What a part of a configuration lacks: a variable that is not set, or what is in the file that a setting names. */
export type Lack = { readonly variable: string } | { readonly setting: string };

/** A part of a configuration, or what it needs and is not there. */
export type Part<Content> = { readonly known: Content } | { readonly lacks: readonly Lack[] };

/** What can be known of a broker's configuration where variables are not set, or files at fault. */
export interface BrokerParts {
  /** Whose tokens callers have, and where its keys are; undefined: nobody's. */
  readonly issuer: Part<Pick<JwtConfiguration, 'issuer' | 'keys'> | undefined>;
  readonly store: Part<StoreConfiguration>;
  /** Those whose id is known. */
  readonly merchants: readonly MerchantParts[];
}

export interface MerchantParts {
  readonly id: string;
  readonly clientKeys: Part<MerchantConfiguration['clientKeys']>;
  /** How it is reached: what create calls hold beside that is no part of it. */
  readonly gateway: Part<Omit<MerchantConfiguration['gateway'], 'requestData'>>;
}

/** What can be known of an egress' configuration where variables are not set, or files at fault. */
export interface EgressParts {
  readonly gateway: Part<EgressConfiguration['gateway']>;
}

/** A setting that is not known; without a variable, its file is at fault. */
export type Lacking = { readonly path: string; readonly variable?: string };

/** @param settings without faults but what is lacking, with what their files hold */
export function brokerParts(
  { auth, store, merchants = [] }: Loaded<Loose<BrokerSettings>>,
  lacking: readonly Lacking[],
): BrokerParts {
  return {
    issuer: part(lacking.filter(isOfIssuer), 'auth.jwt', () =>
      auth?.jwt === undefined ? undefined : jwtConfiguration(auth.jwt as Loaded<JwtSettings>),
    ),
    store: part(lacking, 'store', () => storeOptions(store as Loaded<StoreSettings>)),
    merchants: merchants.flatMap((merchant, index) => partsOf(merchant, `merchants[${index}]`, lacking) ?? []),
  };
}

/** @param settings without faults but what is lacking, with what their files hold */
export function egressParts({ egress }: Loaded<Loose<EgressDocument>>, lacking: readonly Lacking[]): EgressParts {
  return { gateway: part(lacking, 'egress.gateway', () => egress?.gateway as EgressConfiguration['gateway']) };
}

/** What a token has to say beside that decides nothing of where the keys are. */
function isOfIssuer({ path }: Lacking): boolean {
  return !/^auth\.jwt\.(?:audience|types|clockTolerance)/.test(path);
}

function partsOf(
  merchant: Loaded<Loose<MerchantSettings>> | undefined,
  path: string,
  lacking: readonly Lacking[],
): MerchantParts | undefined {
  if (merchant?.id === undefined) return undefined;
  const { id, clientKeys, gateway } = merchant as Loaded<MerchantSettings>;
  return {
    id,
    clientKeys: part(lacking, `${path}.clientKeyFiles`, () => clientKeys),
    gateway: part(
      lacking.filter((each) => !each.path.startsWith(`${path}.gateway.requestData`)),
      `${path}.gateway`,
      () => wayTo(gateway),
    ),
  };
}

function part<Content>(lacking: readonly Lacking[], place: string, read: () => Content): Part<Content> {
  const isIn = (path: string): boolean =>
    path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`);
  const found = lacking.filter(({ path }) => isIn(path));
  if (found.length === 0) return { known: read() };
  return { lacks: found.map(({ path, variable }) => (variable === undefined ? { setting: path } : { variable })) };
}

function wayTo({ requestData: _, largestClockSkewMs: __, ...way }: Loaded<MerchantSettings>['gateway']): typeof way {
  return way;
}
