export { ASKED_AGAIN, momentText, quietCause, secondText } from './budget-cause.js';
export { type ClockSkew, exceedsTolerance, measureSkew, SKEW_TOLERANCE_MS } from './clock-skew.js';
export { longestWindowMs, waitForBudget } from './create-call-budget.js';
export { createSessionAddress } from './create-session-address.js';
export { FailureBoard } from './failure-board.js';
export { type Cause, causeOf, checkedTrace, isUntrusted, leadsElsewhere } from './failure-cause.js';
export { isOfOtherKey, seemsMisaddressed, TLS_SPOKEN } from './failure-cause.js';
export { GatewayFailure, gatewayFailureKinds, sharedFailureKinds } from './gateway-failure.js';
export type { GatewayFailureFacts, GatewayFailureKind, NoAnswerReason } from './gateway-failure.js';
export { generationAlone, isMadeAlone } from './generations.js';
export { Handovers, type AnnouncedHandover, type HandoverAudience } from './handovers.js';
export { HeldSessions, LAST_ATTEMPT_TIMEOUTS } from './held-sessions.js';
export { conditionColours, conditionOf, conditionWord, merchantConditions } from './merchant-condition.js';
export type { Merchants } from './ports/merchants.js';
export type { HandoverOutcome, RenewalOutcome, SessionEvent, SessionEvents } from './ports/session-events.js';
export type { CreateSessionRequest, SessionGateway } from './ports/session-gateway.js';
export type * from './ports/session-store.js';
export type { Sighting, Sightings } from './ports/sightings.js';
export { type Tracing, untraced } from './ports/tracing.js';
export { failuresAfter, longestOutagePauseMs, MAX_UNREACHED_FAILURES, MAX_USUAL_PAUSE_MS } from './retry-policy.js';
export { budgetShortfall, callsOnSchedule, shortfallRemedy, shortfallText } from './schedule-calls.js';
export type { ServeVerdict } from './serve-decision.js';
export { admit, implausibleTimes, type ImplausibleTime } from './session-admission.js';
export {
  DEFAULT_RENEW_SHARE,
  leadShareOf,
  leadTimeShortfall,
  MAX_LEAD_SHARE,
  safetyMarginMs,
} from './session-moments.js';
export { SessionReader, type ServedSession } from './session-reader.js';
export type { LeadTime, SessionSettings } from './session-settings.js';
export type { RejectionAnswer } from './session-rejections.js';
export { SessionReplica, type MerchantsChange, type ReplicaPorts } from './session-replica.js';
export type { IssuedSession, ServerPublicKey, Session } from './session.js';
export type { WantedRenewalAnswer } from './wanted-renewals.js';
