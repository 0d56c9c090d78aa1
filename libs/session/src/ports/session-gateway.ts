import type { IssuedSession } from '../session.js';

export interface CreateSessionRequest {
  readonly merchant: string;
  /** Aborts the call, at the lease's end or on shutdown. The gateway's own timeout applies as well. */
  readonly signal: AbortSignal;
}

/** The gateway as the renewer needs it: one create-session call. */
export interface SessionGateway {
  /**
   * Makes exactly one create-session call and never repeats it by itself.
   * @throws GatewayFailure for every way in which the call can fail, including an abort by `signal`
   */
  createSession(request: CreateSessionRequest): Promise<IssuedSession>;
}
