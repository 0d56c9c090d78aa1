import type { MerchantConfiguration } from '#libs/configuration';
import type { MachineFacts } from './checks/environment-check.js';
import type { OwnUser } from './own-user.js';
import type { VisitTools } from './gateway-visit.js';
import type { LoadedConfiguration } from './loaded-configuration.js';
import type { ProbeWishes } from './probes.js';
import type { RecipientCandidate } from './request-data-search.js';
import type { StoreVisit } from './store-visit.js';

/** What to look at, and with what. */
export interface Plan {
  readonly file: string;
  readonly loaded: LoadedConfiguration;
  readonly machine: MachineFacts;
  readonly user: OwnUser;
  readonly tools: VisitTools;
  /** Absent if the store is in memory or not known. */
  readonly store?: StoreVisit;
  /** The merchants whose gateways to look at; probes are for the first of them. */
  readonly merchants: readonly MerchantConfiguration[];
  readonly wishes: ProbeWishes;
  /** A server that answers with its caller's address. If absent, none is asked. */
  readonly echo?: URL;
  readonly names: readonly string[];
  readonly recipients: readonly RecipientCandidate[];
}
