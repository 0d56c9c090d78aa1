import type { Clock } from '#libs/clock';
import type { ClaimRefusal } from './ports/session-store.js';

type SpentBudgetRefusal = Extract<ClaimRefusal, { readonly kind: 'budget_exhausted' }>;

interface HoldOff {
  readonly refusal: ClaimRefusal;
  readonly endsAtMs: number;
}

/**
 * What the store refused recently, remembered until it can change: a thousand readers without a session cost one claim,
 * not a thousand. A cool-down and a spent share of the budget only concern those who would replace a living session;
 * `not_due` only concerns the schedule, which asks the store anyway.
 */
export class HoldOffs {
  readonly #clock: Clock;
  readonly #general = new Map<string, HoldOff>();
  readonly #coolDowns = new Map<string, HoldOff>();
  /** Kept apart: a later back-off says nothing about the budget, and a spent share nothing about the rest of it. */
  readonly #budgets = new Map<string, HoldOff>();
  readonly #shares = new Map<string, HoldOff>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param wasEarly the refused claim would have replaced a living session: its budget is only a share of the whole */
  note(merchant: string, refusal: ClaimRefusal, wasEarly = false): void {
    if (refusal.kind === 'not_due') return;
    const isOfWishes = refusal.kind === 'cooled_down' || (refusal.kind === 'budget_exhausted' && wasEarly);
    const kept = isOfWishes ? this.#coolDowns : this.#general;
    const holdOff = { refusal, endsAtMs: this.#clock.monotonicMs() + refusal.retryInMs };
    kept.set(merchant, holdOff);
    if (refusal.kind === 'budget_exhausted') (wasEarly ? this.#shares : this.#budgets).set(merchant, holdOff);
  }

  /** The refusal that still stands, with what is left of its wait. */
  find(merchant: string, replacesLivingSession: boolean): ClaimRefusal | undefined {
    const coolDown = replacesLivingSession ? this.#standing(this.#coolDowns, merchant) : undefined;
    return this.#standing(this.#general, merchant) ?? coolDown;
  }

  /** Whether the store has said that no create call is left for now, of the whole budget or of the share for wishes. */
  isBudgetSpent(merchant: string): boolean {
    return this.spentBudget(merchant) !== undefined || this.#standing(this.#shares, merchant) !== undefined;
  }

  /** The refusal that still stands for everybody: no create call is left at all. */
  spentBudget(merchant: string): SpentBudgetRefusal | undefined {
    const refusal = this.#standing(this.#budgets, merchant);
    return refusal?.kind === 'budget_exhausted' ? refusal : undefined;
  }

  forget(merchant: string): void {
    this.#budgets.delete(merchant);
    this.#shares.delete(merchant);
    this.#general.delete(merchant);
    this.#coolDowns.delete(merchant);
  }

  #standing(kept: Map<string, HoldOff>, merchant: string): ClaimRefusal | undefined {
    const holdOff = kept.get(merchant);
    if (holdOff === undefined) return undefined;
    const retryInMs = holdOff.endsAtMs - this.#clock.monotonicMs();
    if (retryInMs > 0) return { ...holdOff.refusal, retryInMs };
    kept.delete(merchant);
    return undefined;
  }
}
