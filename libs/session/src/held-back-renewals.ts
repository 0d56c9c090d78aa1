import { isScheduled } from './claims.js';
import type { Cause } from './failure-cause.js';
import type { SessionEvent, SessionEvents } from './ports/session-events.js';

interface HeldBackContext {
  readonly events: SessionEvents;
  readonly causeFor: (merchant: string) => Cause | undefined;
}

type Refused = Extract<SessionEvent, { readonly event: 'claim_refused' }>;

/**
 * The merchants with an attempt that was due and was refused by the create-call budget, known from the events it passes
 * on. Emits this once for each of them, and once when it is over: with the next lease, a newer session, or another
 * answer to the schedule.
 */
export class HeldBackRenewals implements SessionEvents {
  readonly #context: HeldBackContext;
  readonly #merchants = new Set<string>();

  constructor(context: HeldBackContext) {
    this.#context = context;
  }

  emit(event: SessionEvent): void {
    this.#context.events.emit(event);
    this.#look(event);
  }

  has(merchant: string): boolean {
    return this.#merchants.has(merchant);
  }

  forget(merchant: string): void {
    this.#merchants.delete(merchant);
  }

  #look(event: SessionEvent): void {
    switch (event.event) {
      case 'claim_refused':
        return this.#refused(event);
      case 'lease_granted':
      case 'session_adopted':
        return this.#end(event.merchant);
      default:
        return;
    }
  }

  #refused({ merchant, trigger, reason }: Refused): void {
    if (!isScheduled({ trigger })) return;
    if (reason !== 'budget_exhausted') return this.#end(merchant);
    if (this.#merchants.has(merchant)) return;
    this.#merchants.add(merchant);
    const cause = this.#context.causeFor(merchant);
    this.#context.events.emit({ event: 'renewal_held_back', merchant, ...(cause === undefined ? {} : { cause }) });
  }

  #end(merchant: string): void {
    if (this.#merchants.delete(merchant)) this.#context.events.emit({ event: 'renewal_released', merchant });
  }
}
