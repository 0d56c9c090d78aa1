export { type ClockSkew, exceedsTolerance, measureSkew, SKEW_TOLERANCE_MS } from './clock-skew.js';
export { longestWindowMs, waitForBudget } from './create-call-budget.js';
export { FailureBoard } from './failure-board.js';
export { type Cause, causeOf, checkedTrace } from './failure-cause.js';
export {
  GatewayFailure,
  type GatewayFailureFacts,
  type GatewayFailureKind,
  type NoAnswerReason,
  gatewayFailureKinds,
  sharedFailureKinds,
} from './gateway-failure.js';
export { generationAlone, isMadeAlone } from './generations.js';
export { Handovers, type AnnouncedHandover, type HandoverAudience } from './handovers.js';
export { HeldSessions } from './held-sessions.js';
export type { Merchants } from './ports/merchants.js';
export type { HandoverOutcome, RenewalOutcome, SessionEvent, SessionEvents } from './ports/session-events.js';
export type { CreateSessionRequest, SessionGateway } from './ports/session-gateway.js';
export type * from './ports/session-store.js';
export type { Sighting, Sightings } from './ports/sightings.js';
export { type Tracing, untraced } from './ports/tracing.js';
export type { ServeVerdict } from './serve-decision.js';
export { admit, implausibleTimes, type ImplausibleTime } from './session-admission.js';
export { leadTimeShortfall } from './session-moments.js';
export { SessionReader, type ServedSession } from './session-reader.js';
export type { LeadTime, SessionSettings } from './session-settings.js';
export type { RejectionAnswer } from './session-rejections.js';
export { SessionReplica, type MerchantsChange, type ReplicaPorts } from './session-replica.js';
export type { IssuedSession, ServerPublicKey, Session } from './session.js';
export type { WantedRenewalAnswer } from './wanted-renewals.js';
