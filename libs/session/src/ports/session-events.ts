import type { GatewayFailure } from '../gateway-failure.js';
import type { Cause } from '../merchant-condition.js';
import type { ClaimRefusal } from './session-store.js';

/** What started a renewal; `operator`: a person who wants it now. */
export type RenewalTrigger = 'startup' | 'schedule' | 'demand' | 'rejection' | 'operator';

/** How an attempt that called the gateway ended. */
export type RenewalOutcome =
  'success' | 'transient' | 'refused' | 'revoked' | 'invalid_response' | 'key_unavailable' | 'timeout' | 'lease_lost';

/**
 * How the wait of a hand-over ended: `nobody` takes part; all are `ready`; the time was up (`limit`); somebody needs
 * the new session at once, or the replica stops (`cut`); the store did not pass it on (`unheard`).
 */
export type HandoverOutcome = 'nobody' | 'ready' | 'limit' | 'cut' | 'unheard';

/** What happened in the domain, for logs and metrics. Never carries a token, a key or a serviceCode. */
export type SessionEvent =
  | {
      readonly event: 'renewal_finished';
      readonly merchant: string;
      readonly trigger: RenewalTrigger;
      readonly outcome: RenewalOutcome;
      /** From the lease to the end of the attempt, including writing its result. */
      readonly durationMs: number;
      /** The call to the gateway alone. */
      readonly callMs: number;
      readonly generation: number;
      readonly failure?: GatewayFailure;
      readonly retryInMs?: number;
    }
  | {
      readonly event: 'handover_awaited';
      readonly merchant: string;
      readonly generation: number;
      readonly outcome: HandoverOutcome;
      readonly participants: number;
      readonly waitedMs: number;
    }
  | { readonly event: 'lease_granted'; readonly merchant: string; readonly trigger: RenewalTrigger }
  | {
      readonly event: 'claim_refused';
      readonly merchant: string;
      readonly trigger: RenewalTrigger;
      /** `share_spent`: the budget refuses to replace a living session early; the schedule may have calls left. */
      readonly reason: ClaimRefusal['kind'] | 'already_newer' | 'share_spent';
    }
  | {
      readonly event: 'session_rejected';
      readonly merchant: string;
      readonly generation: number;
      /** `budget_exhausted`: no call was left for it. */
      readonly result: 'renewed' | 'already_newer' | 'cooled_down' | 'budget_exhausted' | 'unavailable';
      /** Nobody had reported this generation, or a later one, to this replica before. */
      readonly isFirst: boolean;
      readonly reason?: string;
      readonly consumer?: string;
    }
  /**
   * Somebody else creates sessions of the merchant; or no report has shown it for a while, which does not mean that
   * they have stopped.
   */
  | {
      readonly event: 'foreign_authorizer';
      readonly merchant: string;
      readonly generation: number;
      readonly isPresent: boolean;
      /** For how long no consumer has reported a session of the merchant, as far as this replica knows. */
      readonly quietMs: number;
    }
  | { readonly event: 'late_result'; readonly merchant: string; readonly generation: number }
  | { readonly event: 'fenced_publish'; readonly merchant: string; readonly generation: number }
  | {
      readonly event: 'session_adopted';
      readonly merchant: string;
      readonly generation: number;
      readonly source: 'own' | 'store';
      /** Since the gateway's answer. */
      readonly ageMs: number;
      readonly serverKeyChanged: boolean;
    }
  | { readonly event: 'record_unopenable'; readonly merchant: string; readonly generation: number }
  | {
      readonly event: 'clock_skew';
      readonly merchant: string;
      readonly skewMs: number;
      readonly beyondTolerance: boolean;
    }
  | {
      readonly event: 'lead_time_short';
      readonly merchant: string;
      readonly leadMs: number;
      readonly neededMs: number;
    }
  /**
   * Once per session: it has ended with nothing newer; its merchant is served again. There is no cause if it is unknown
   * or differs between them.
   */
  | { readonly event: 'service_ended'; readonly merchants: readonly string[]; readonly cause?: Cause }
  | { readonly event: 'service_resumed'; readonly merchants: readonly string[]; readonly cause?: Cause }
  | { readonly event: 'store_failed'; readonly operation: string; readonly error: unknown }
  | { readonly event: 'store_recovered' }
  /** A bug of ours, kept from taking the replica down. */
  | { readonly event: 'broken'; readonly activity: string; readonly error: unknown };

export interface SessionEvents {
  /** Must not throw and must not block. */
  emit(event: SessionEvent): void;
}
