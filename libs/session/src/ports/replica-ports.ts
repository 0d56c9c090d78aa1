import type { IssuedSession, SessionSettings } from '../session.js';
import type { RenewalTrigger } from './session-events.js';

/** The configured merchants. The answer may change while the process runs; it must not be kept across an await. */
export interface Merchants {
  ids(): readonly string[];
  /** @returns undefined for a merchant that is not (or no longer) configured */
  settingsOf(merchant: string): SessionSettings | undefined;
  /** Names the gateway that the merchant's calls go to: the number of concurrent calls to one gateway is limited. */
  gatewayIdOf(merchant: string): string;
  /** The RFC 7638 thumbprint of the key this replica asks with. Default: every replica asks with the same one. */
  newestKeyOf?(merchant: string): string | undefined;
}

export interface CreateSessionRequest {
  readonly merchant: string;
  /** Aborts the call, at the lease's end or on shutdown. The gateway's own timeout applies as well. */
  readonly signal: AbortSignal;
}

export interface SessionGateway {
  /**
   * Makes exactly one create-session call and never repeats it by itself.
   * @throws GatewayFailure for every way in which the call can fail, including an abort by `signal`
   */
  createSession(request: CreateSessionRequest): Promise<IssuedSession>;
}

/**
 * Brackets around pieces of work, to show what they consist of and how long they take. What the work returns or throws
 * is passed through; steps belong to the renewal in which they run.
 */
export interface Tracing {
  renewal<Result extends { readonly kind: string }>(
    renewal: { readonly merchant: string; readonly trigger: RenewalTrigger },
    run: () => Promise<Result>,
  ): Promise<Result>;
  step<Result>(step: 'claim' | 'gateway_call' | 'open' | 'publish', run: () => Promise<Result>): Promise<Result>;
}

/** No tracing: the work is done, and nothing is recorded. */
export const untraced: Tracing = {
  renewal: (_renewal, run) => run(),
  step: (_step, run) => run(),
};
