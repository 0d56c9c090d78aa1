export { type Cause, type CauseEffect, type FailedCall, isOfOtherKey } from './cause.js';
export { type ClockSkew, exceedsTolerance, measureSkew, SKEW_TOLERANCE_MS } from './clock-skew.js';
export { budgetInForce, longestWindowMs, waitForBudget } from './create-call-budget.js';
export { createSessionAddress } from './create-session-address.js';
export { deathCodes } from './deaths.js';
export { checkedTrace, type FailureTrace, PAST_EXPIRY, TLS_SPOKEN } from './failure-trace.js';
export { GatewayFailure, gatewayFailureKinds, sharedFailureKinds } from './gateway-failure.js';
export type { GatewayFailureFacts, GatewayFailureKind, NoAnswerReason, SharedFailureKind } from './gateway-failure.js';
export type { AnnouncedHandover, HandoverAudience, ReadyParticipant } from './handovers.js';
export { HeldSessions } from './held-sessions.js';
export { floorOf } from './generations.js';
export { type Effect, type Input, step } from './life.js';
export {
  generationOf,
  heldFrom,
  knownOf,
  type Merchant,
  type Now,
  serveFactsOf,
  unknownMerchant,
  untilRenewalMsOf,
  verdictOn,
} from './merchant.js';
export { type MerchantCondition, merchantConditions } from './merchant-condition.js';
export { budgetOf, retryInMsOf, standingFor } from './obstacles.js';
export type { Merchants } from './ports/merchants.js';
export type { HandoverOutcome, RenewalOutcome, SessionEvent, SessionEvents } from './ports/session-events.js';
export type { CreateSessionRequest, SessionGateway } from './ports/session-gateway.js';
export type * from './ports/session-store.js';
export { type Tracing, untraced } from './ports/tracing.js';
export { failuresAfter, MAX_UNREACHED_FAILURES } from './retry-policy.js';
export type { ServeVerdict } from './serve-decision.js';
export { admit, implausibleTimes, type ImplausibleTime } from './session-admission.js';
export { leadShareOf, leadShares, leadTimeShortfall } from './session-moments.js';
export { SessionReader, type ServedSession } from './session-reader.js';
export type { LeadTime, SessionSettings } from './session-settings.js';
export type { RejectionAnswer } from './session-rejections.js';
export { SessionReplica, type MerchantsChange, type ReplicaPorts } from './session-replica.js';
export { SessionUnavailable } from './session-unavailable.js';
export { StoreClock } from './store-clock.js';
export type { IssuedSession, ServerPublicKey, Session, SessionLeft } from './session.js';
export type { WantedRenewalAnswer } from './wanted-renewals.js';
