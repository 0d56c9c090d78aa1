import type { Clock } from '#libs/clock';
import type { SessionEvent, SessionEvents } from '#libs/session';
import type { StatusRenewal } from './status-document.js';

type Named<Name extends SessionEvent['event']> = Extract<SessionEvent, { event: Name }>;

/** As many as the page draws. */
export const MAX_RENEWALS = 12;

/** More than a broker is built for: above this, the merchant without news for longest is forgotten. */
export const MAX_MERCHANTS = 20_000;

interface Remembered {
  readonly renewals: StatusRenewal[];
  budgetSpent: boolean;
}

const NOTHING: Remembered = { renewals: [], budgetSpent: false };

/** The last renewals of each merchant as this replica saw them. In memory only, and bounded in both dimensions. */
export class RenewalHistory implements SessionEvents {
  readonly #clock: Clock;
  readonly #maxMerchants: number;
  /** In the order of their latest news. */
  readonly #merchants = new Map<string, Remembered>();

  constructor(clock: Clock, maxMerchants: number = MAX_MERCHANTS) {
    this.#clock = clock;
    this.#maxMerchants = maxMerchants;
  }

  emit(event: SessionEvent): void {
    switch (event.event) {
      case 'renewal_finished':
        return this.#remember(event.merchant, this.#finished(event));
      case 'session_adopted':
        return this.#adopted(event);
      case 'lease_granted':
        return this.#noteBudget(event.merchant, false);
      case 'claim_refused':
        return event.reason === 'budget_exhausted' ? this.#noteBudget(event.merchant, true) : undefined;
      default:
        return;
    }
  }

  /** The oldest come first. */
  of(merchant: string): readonly StatusRenewal[] {
    return (this.#merchants.get(merchant) ?? NOTHING).renewals;
  }

  /** Whether a call of this replica has ended without a session at or after that moment. */
  hasFailedSince(merchant: string, at: number): boolean {
    const isFailed = ({ outcome }: StatusRenewal): boolean => outcome !== 'success' && outcome !== 'adopted';
    return this.of(merchant).some((renewal) => isFailed(renewal) && renewal.at >= at);
  }

  isBudgetSpent(merchant: string): boolean {
    return (this.#merchants.get(merchant) ?? NOTHING).budgetSpent;
  }

  #finished({ trigger, outcome, callMs, generation, failure }: Named<'renewal_finished'>): StatusRenewal {
    const code = failure?.shownCode ?? failure?.trace?.mark;
    return {
      at: this.#clock.now(),
      generation,
      outcome,
      trigger,
      callMs: Math.round(callMs),
      ...(code === undefined ? {} : { code }),
    };
  }

  /** A session that this replica has made itself is already shown as its renewal. */
  #adopted({ merchant, source, generation }: Named<'session_adopted'>): void {
    if (source === 'own') return;
    this.#noteBudget(merchant, false);
    this.#remember(merchant, { at: this.#clock.now(), generation, outcome: 'adopted' });
  }

  #noteBudget(merchant: string, budgetSpent: boolean): void {
    if (this.isBudgetSpent(merchant) !== budgetSpent) this.#touch(merchant).budgetSpent = budgetSpent;
  }

  #remember(merchant: string, renewal: StatusRenewal): void {
    const { renewals } = this.#touch(merchant);
    renewals.push(renewal);
    if (renewals.length > MAX_RENEWALS) renewals.shift();
  }

  #touch(merchant: string): Remembered {
    const remembered = this.#merchants.get(merchant) ?? { renewals: [], budgetSpent: false };
    this.#merchants.delete(merchant);
    this.#merchants.set(merchant, remembered);
    if (this.#merchants.size > this.#maxMerchants) this.#forgetOldest();
    return remembered;
  }

  #forgetOldest(): void {
    const [oldest] = this.#merchants.keys();
    if (oldest !== undefined) this.#merchants.delete(oldest);
  }
}
