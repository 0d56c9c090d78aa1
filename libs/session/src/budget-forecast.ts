import { msBetween } from '#libs/clock';
import type { HeldSessions } from './held-sessions.js';
import type { Merchants } from './ports/merchants.js';
import type { SessionEvent, SessionEvents } from './ports/session-events.js';
import { type BudgetShortfall, budgetShortfall } from './schedule-calls.js';

interface ForecastContext {
  readonly events: SessionEvents;
  readonly held: HeldSessions;
  readonly merchants: Merchants;
}

/** Sessions of one gateway live equally long, but not to the millisecond. */
const SAME_LIFE_SHARE = 0.1;

/**
 * Warns that the budget cannot carry the schedule as soon as the first session shows it, long before the budget is
 * spent: once per merchant and lifetime, based on the events it passes on.
 */
export class BudgetForecast implements SessionEvents {
  readonly #context: ForecastContext;
  readonly #told = new Map<string, BudgetShortfall>();

  constructor(context: ForecastContext) {
    this.#context = context;
  }

  emit(event: SessionEvent): void {
    this.#context.events.emit(event);
    if (event.event === 'session_adopted') this.#look(event.merchant);
  }

  /** A warning given under other settings is repeated if these are no better. */
  settingsChanged(merchant: string): void {
    this.forget(merchant);
    this.#look(merchant);
  }

  forget(merchant: string): void {
    this.#told.delete(merchant);
  }

  #look(merchant: string): void {
    const session = this.#context.held.get(merchant);
    const settings = this.#context.merchants.settingsOf(merchant);
    if (session === undefined || settings === undefined) return;
    const shortfall = budgetShortfall(msBetween(session.createdAt, session.expiresAt), settings);
    if (shortfall === undefined || this.#isTold(merchant, shortfall)) return;
    this.#told.set(merchant, shortfall);
    this.#context.events.emit({ event: 'budget_too_small', merchant, ...shortfall });
  }

  #isTold(merchant: string, { lifetimeMs }: BudgetShortfall): boolean {
    const told = this.#told.get(merchant);
    return told !== undefined && Math.abs(told.lifetimeMs - lifetimeMs) <= SAME_LIFE_SHARE * told.lifetimeMs;
  }
}
