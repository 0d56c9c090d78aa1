import { gatewayConfiguration, storeOptions } from './arrange-options.js';
import type { MerchantConfiguration, StoreConfiguration } from './broker-configuration.js';
import type { Loose } from './check-settings.js';
import type { EgressConfiguration } from './egress-configuration.js';
import type { Loaded } from './named-files.js';
import type { UnsetVariable } from './read-yaml.js';
import type { BrokerSettings } from './settings/broker-settings.js';
import type { EgressDocument } from './settings/egress-settings.js';
import type { MerchantSettings } from './settings/merchant-settings.js';
import type { StoreSettings } from './settings/store-settings.js';

/** A part of a configuration, or the variables that it needs and that are not set. */
export type Part<Content> = { readonly known: Content } | { readonly lacks: readonly string[] };

/** What can be known of a broker's configuration where variables are not set. */
export interface BrokerParts {
  readonly store: Part<StoreConfiguration>;
  /** Those whose id is known. */
  readonly merchants: readonly MerchantParts[];
}

export interface MerchantParts {
  readonly id: string;
  readonly clientKeys: Part<MerchantConfiguration['clientKeys']>;
  readonly gateway: Part<MerchantConfiguration['gateway']>;
}

/** What can be known of an egress' configuration where variables are not set. */
export interface EgressParts {
  readonly gateway: Part<EgressConfiguration['gateway']>;
}

type Unset = readonly UnsetVariable[];

/** @param settings without faults but what `unset` leaves out, with what their files hold */
export function brokerParts({ store, merchants = [] }: Loaded<Loose<BrokerSettings>>, unset: Unset): BrokerParts {
  return {
    store: part(unset, 'store', () => storeOptions(store as Loaded<StoreSettings>)),
    merchants: merchants.flatMap((merchant, index) => partsOf(merchant, `merchants[${index}]`, unset) ?? []),
  };
}

/** @param settings without faults but what `unset` leaves out, with what their files hold */
export function egressParts({ egress }: Loaded<Loose<EgressDocument>>, unset: Unset): EgressParts {
  return { gateway: part(unset, 'egress.gateway', () => egress?.gateway as EgressConfiguration['gateway']) };
}

function partsOf(
  merchant: Loaded<Loose<MerchantSettings>> | undefined,
  path: string,
  unset: Unset,
): MerchantParts | undefined {
  if (merchant?.id === undefined) return undefined;
  const { id, clientKeys, gateway } = merchant as Loaded<MerchantSettings>;
  return {
    id,
    clientKeys: part(unset, `${path}.clientKeyFiles`, () => clientKeys),
    gateway: part(unset, `${path}.gateway`, () => gatewayConfiguration(gateway)),
  };
}

function part<Content>(unset: Unset, place: string, read: () => Content): Part<Content> {
  const isIn = (path: string): boolean =>
    path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`);
  const lacking = unset.filter(({ path }) => isIn(path));
  return lacking.length === 0 ? { known: read() } : { lacks: lacking.map(({ variable }) => variable) };
}
