export { GatewayFailure, type GatewayFailureFacts, type GatewayFailureKind } from './gateway-failure.js';
export type { CreateSessionRequest, SessionGateway } from './ports/session-gateway.js';
export type {
  Announcement,
  ClaimRefusal,
  ClaimRequest,
  ClaimResult,
  CreateCallBudget,
  DueMerchants,
  Lease,
  LeaseRelease,
  RecordedFailure,
  SessionStore,
  StoredSession,
  StoredState,
} from './ports/session-store.js';
export type { IssuedSession, ServerPublicKey, Session } from './session.js';
export type { LeadTime, SessionSettings } from './session-settings.js';
