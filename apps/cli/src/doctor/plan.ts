import type { MerchantConfiguration } from '#libs/configuration';
import type { MachineFacts } from './checks/environment-check.js';
import type { OwnUser } from './own-user.js';
import type { VisitTools } from './gateway-visit.js';
import type { LoadedConfiguration } from './loaded-configuration.js';
import type { ProbeWishes } from './probes.js';
import type { RecipientCandidate } from './request-data-search.js';
import type { StoreVisit } from './store-visit.js';

/** What is to be looked at, and with what. */
export interface Plan {
  readonly file: string;
  readonly loaded: LoadedConfiguration;
  readonly machine: MachineFacts;
  readonly user: OwnUser;
  readonly tools: VisitTools;
  /** Absent: the store is in memory, or not known. */
  readonly store?: StoreVisit;
  /** Of the gateways to look at; the merchant that probes are for is the first of them. */
  readonly merchants: readonly MerchantConfiguration[];
  readonly wishes: ProbeWishes;
  /** A server that answers with the address of its caller; absent: nobody is asked. */
  readonly echo?: URL;
  readonly names: readonly string[];
  readonly recipients: readonly RecipientCandidate[];
}
