import type { GatewayFailure, SharedFailureKind } from '../gateway-failure.js';
import type { Cause } from '../merchant-condition.js';
import type { ClaimRefusal } from './session-store.js';

/** What started a renewal; `operator`: a person who wants it now. */
export type RenewalTrigger = 'startup' | 'schedule' | 'demand' | 'rejection' | 'operator';

export type RenewalOutcome = 'success' | 'lease_lost' | SharedFailureKind;

/**
 * How the wait of a hand-over ended: `nobody` takes part; all are `ready`; the time was up (`limit`); somebody needs
 * the new session at once, or the replica stops (`cut`); the store did not pass it on (`unheard`).
 */
export type HandoverOutcome = 'nobody' | 'ready' | 'limit' | 'cut' | 'unheard';

interface OfMerchant {
  readonly merchant: string;
}

interface OfSession extends OfMerchant {
  readonly generation: number;
}

/** What happened in the domain, for logs and metrics. Never carries a token, a key or a serviceCode. */
interface EventFacts {
  renewal_finished: OfSession & {
    readonly trigger: RenewalTrigger;
    readonly outcome: RenewalOutcome;
    /** From the lease to the end of the attempt, including writing its result. */
    readonly durationMs: number;
    readonly failure?: GatewayFailure;
    readonly retryInMs?: number;
  };
  handover_awaited: OfSession & {
    readonly outcome: HandoverOutcome;
    readonly participants: number;
    readonly waitedMs: number;
  };
  lease_granted: OfMerchant & { readonly trigger: RenewalTrigger };
  claim_refused: OfMerchant & {
    readonly trigger: RenewalTrigger;
    /** `share_spent`: the budget refuses to replace a living session early; the schedule may have calls left. */
    readonly reason: ClaimRefusal['kind'] | 'already_newer' | 'share_spent';
  };
  session_rejected: OfSession & {
    /** `budget_exhausted`: no call was left for it. */
    readonly result: 'renewed' | 'already_newer' | 'cooled_down' | 'budget_exhausted' | 'unavailable';
    /** Nobody had reported this generation, or a later one, to this replica before. */
    readonly isFirst: boolean;
    readonly reason?: string;
    readonly consumer?: string;
  };
  /**
   * Somebody else creates sessions of the merchant; or no report has shown it for a while, which does not mean that
   * they have stopped.
   */
  foreign_authorizer: OfSession & {
    readonly isPresent: boolean;
    /** For how long no consumer has reported a session of the merchant, as far as this replica knows. */
    readonly quietMs: number;
  };
  late_result: OfSession;
  fenced_publish: OfSession;
  record_unopenable: OfSession;
  session_adopted: OfSession & {
    readonly source: 'own' | 'store';
    readonly ageMs: number;
    readonly serverKeyChanged: boolean;
  };
  clock_skew: OfMerchant & { readonly skewMs: number; readonly beyondTolerance: boolean };
  lead_time_short: OfMerchant & { readonly leadMs: number; readonly neededMs: number };
  /** Once per session: it has ended with nothing newer; its merchant is served again. */
  service_ended: OfMerchant & { readonly cause?: Cause };
  service_resumed: OfMerchant;
  store_failed: { readonly operation: string; readonly error: unknown };
  store_recovered: object;
  /** A bug of ours, kept from taking the replica down. */
  broken: { readonly activity: string; readonly error: unknown };
}

export type SessionEvent = {
  [Name in keyof EventFacts]: { readonly event: Name } & EventFacts[Name];
}[keyof EventFacts];

export interface SessionEvents {
  /** Must not throw and must not block. */
  emit(event: SessionEvent): void;
}
