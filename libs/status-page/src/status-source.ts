import type { SessionReplica } from '#libs/session';
import type { StatusMerchant, StatusReplica, StatusStore } from './status-document.js';

/** A merchant as configured. */
export interface ConfiguredMerchant {
  readonly required: boolean;
  readonly environment: StatusMerchant['environment'];
  readonly gatewayHost: string;
}

/** What this replica says about itself. */
export type ReplicaCondition = Omit<StatusReplica, 'name' | 'startedAt'>;

/** The state of the store, as far as its connection knows. */
export type StoreConnection = Omit<StatusStore, 'failing' | 'cause'>;

/** Everything that the page is made from: to be provided by the app that shows a page. */
export interface StatusSource {
  readonly replica: Pick<
    SessionReplica,
    'held' | 'wishes' | 'isRenewing' | 'retryInMs' | 'hasForeignAuthorizer' | 'conditionOf' | 'causeFor' | 'failureOf'
  >;
  /** The ids of all merchants, in the order of the configuration. */
  merchants(): readonly string[];
  /** Undefined for a merchant that is no longer configured. */
  merchant(id: string): ConfiguredMerchant | undefined;
  store(): StoreConnection;
  /** Whether nothing is renewed because of the store, given the merchant's setting for an outage. */
  isRenewalBlocked(id: string): boolean;
  condition(): ReplicaCondition;
}
