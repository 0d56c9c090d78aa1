import type { UnavailableReason } from '#libs/errors';
import { decide, type DecisionTable, otherwise } from './decision-table.js';
import { type GatewayFailureKind, sharedFailureKinds } from './gateway-failure.js';
import type { StoreTrouble } from './store-health.js';
import type { ServeVerdict } from './serve-decision.js';

/** What is known about a merchant while its reads are answered with 503. */
export interface UnavailabilityFacts {
  /** All of it, or the share that may replace what a consumer has rejected. */
  readonly isBudgetSpent: boolean;
  readonly store: StoreTrouble | undefined;
  /** Of the last attempt, unless a session has come since. */
  readonly failure: GatewayFailureKind | undefined;
  readonly isRenewing: boolean;
  /** Whether a session would be served: one that a consumer has rejected may still be alive. */
  readonly serving: ServeVerdict['reason'];
}

type Check = (facts: UnavailabilityFacts) => boolean;

const isBudgetSpent: Check = (facts) => facts.isBudgetSpent;
const isStoreSilent: Check = ({ store }) => store === 'silent';
const isStoreRefusing: Check = ({ store }) => store === 'refuses';
const isRenewing: Check = (facts) => facts.isRenewing;
const isExpired: Check = ({ serving }) => serving === 'expired';
const isMissing: Check = ({ serving }) => serving === 'no_session';

/** First what keeps anybody from trying, then how the last attempt ended. */
const table: DecisionTable<UnavailabilityFacts, UnavailableReason> = [
  [isBudgetSpent, 'budget_exhausted'],
  [isStoreSilent, 'store_silent'],
  [isStoreRefusing, 'store_refuses'],
  ...sharedFailureKinds.map((kind) => [({ failure }: UnavailabilityFacts) => failure === kind, kind] as const),
  [isRenewing, 'renewing'],
  [isExpired, 'expired'],
  [isMissing, 'no_session'],
  [otherwise, 'not_replaced'],
];

/** Why nothing is served, or nothing newer than what was rejected. */
export function whyUnavailable(facts: UnavailabilityFacts): UnavailableReason {
  return decide(table, facts);
}
