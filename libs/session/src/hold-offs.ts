import type { Clock } from '#libs/clock';
import type { ClaimRefusal } from './ports/session-store.js';

/** Since the last attempt, or the last try to make one. */
const IMPATIENT_AFTER_MS = 10_000;

type SpentBudgetRefusal = Extract<ClaimRefusal, { readonly kind: 'budget_exhausted' }>;

interface HoldOff {
  readonly refusal: ClaimRefusal;
  readonly endsAtMs: number;
  /** From then on, somebody who has nothing to use may cut it short. */
  readonly bindsUntilMs: number;
  /** Of the refused claim. */
  readonly coolDownMs: number;
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

  /** @param coolDownMs if any, the refused claim would have replaced a living session: its budget is only a share */
  note(merchant: string, refusal: ClaimRefusal, coolDownMs = 0): void {
    if (refusal.kind === 'not_due') return;
    const wasEarly = coolDownMs > 0;
    const isOfWishes = refusal.kind === 'cooled_down' || (refusal.kind === 'budget_exhausted' && wasEarly);
    const kept = isOfWishes ? this.#coolDowns : this.#general;
    const nowMs = this.#clock.monotonicMs();
    const holdOff = {
      refusal,
      endsAtMs: nowMs + refusal.retryInMs,
      bindsUntilMs: nowMs + IMPATIENT_AFTER_MS,
      coolDownMs,
    };
    kept.set(merchant, holdOff);
    if (refusal.kind === 'budget_exhausted') (wasEarly ? this.#shares : this.#budgets).set(merchant, holdOff);
  }

  /**
   * The refusal that still stands, with what is left of its wait. A cool-down that was longer says nothing of this one.
   * @param coolDownMs 0 for whoever would not replace a living session
   */
  find(merchant: string, coolDownMs: number): ClaimRefusal | undefined {
    const early = coolDownMs > 0 ? this.#standing(this.#coolDowns, merchant) : undefined;
    const isOfAnother = early?.kind === 'cooled_down' && (this.#coolDowns.get(merchant)?.coolDownMs ?? 0) > coolDownMs;
    return this.#standing(this.#general, merchant) ?? (isOfAnother ? undefined : early);
  }

  /**
   * Whether somebody who has nothing to use need not wait for the end of the back-off any more. If so, the next one
   * waits as long again.
   */
  cutShort(merchant: string): boolean {
    const holdOff = this.#general.get(merchant);
    const nowMs = this.#clock.monotonicMs();
    if (holdOff?.refusal.kind !== 'backing_off' || nowMs < holdOff.bindsUntilMs) return false;
    this.#general.set(merchant, { ...holdOff, bindsUntilMs: nowMs + IMPATIENT_AFTER_MS });
    return true;
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
