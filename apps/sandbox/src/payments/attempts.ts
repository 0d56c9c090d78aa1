import type { Clock, Instant } from '#libs/clock';
import { plusMs } from '#libs/clock';
import { GatewayRefusal } from '../gateway/refusal.js';

const A_DAY_MS = 86_400_000;
const MAX_ATTEMPTS_A_DAY = 70;

interface Count {
  readonly endsAt: Instant;
  attempts: number;
}

/** At most seventy attempts at an operation per day, which begins with the first of them. */
export class Attempts {
  readonly #clock: Clock;
  readonly #capacity: number;
  readonly #counts = new Map<string, Count>();

  constructor(clock: Clock, capacity: number) {
    this.#clock = clock;
    this.#capacity = capacity;
  }

  /** @throws GatewayRefusal `b_txn_not_allowed` for one attempt too many */
  count(subject: string): void {
    const now = this.#clock.now();
    const known = this.#counts.get(subject);
    if (known === undefined || known.endsAt <= now) {
      this.#counts.delete(subject);
      this.#counts.set(subject, { endsAt: plusMs(now, A_DAY_MS), attempts: 1 });
      this.#makeRoom();
      return;
    }
    known.attempts += 1;
    if (known.attempts > MAX_ATTEMPTS_A_DAY) throw new GatewayRefusal('b_txn_not_allowed');
  }

  reset(): void {
    this.#counts.clear();
  }

  #makeRoom(): void {
    if (this.#counts.size <= this.#capacity) return;
    const oldest = this.#counts.keys().next();
    if (oldest.done !== true) this.#counts.delete(oldest.value);
  }
}
