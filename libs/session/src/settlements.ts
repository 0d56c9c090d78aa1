import type { Clock } from '#libs/clock';
import type { HeldSessions } from './held-sessions.js';

/** Two sessions, one of which was offered: `newest` is the generation of the newer one. */
interface Contest {
  readonly newest: number;
  /** When the gateway had answered with the offered one, by the monotonic clock. */
  readonly answeredAtMs: number;
  /** For sessions that do not say how long their call took. */
  readonly maxCallMs: number;
}

/** A publication that took this long to arrive makes its session look that much younger than it is. */
const MAX_TRIP_MS = 250;

/** The other session is read before it is judged; if it never arrives, its maker died before publishing it. */
const READ_WITHIN_MS = 15_000;

/**
 * Merchants for which two sessions were made and nobody can tell which was created last: one more renewal, newer than
 * both, settles it. Kept until there is one, or until the other session turns out to have been requested later.
 */
export class Settlements {
  readonly #held: HeldSessions;
  readonly #clock: Clock;
  readonly #contests = new Map<string, Contest & { readonly notedAtMs: number }>();

  constructor(held: HeldSessions, clock: Clock) {
    this.#held = held;
    this.#clock = clock;
  }

  note(merchant: string, contest: Contest): void {
    const known = this.#contests.get(merchant);
    if (known !== undefined && known.newest >= contest.newest) return;
    this.#contests.set(merchant, { ...contest, notedAtMs: this.#clock.monotonicMs() });
  }

  forget(merchant: string): void {
    this.#contests.delete(merchant);
  }

  /** Those that need a renewal now, each with the generation it has to exceed. */
  open(): readonly (readonly [merchant: string, newest: number])[] {
    const open: (readonly [string, number])[] = [];
    for (const [merchant, { newest, ...contest }] of this.#contests) {
      const generation = this.#held.generationOf(merchant);
      const isRead = generation >= newest;
      if (generation > newest || (isRead && this.#wasAskedForLater(merchant, contest))) {
        this.#contests.delete(merchant);
      } else if (isRead || this.#clock.monotonicMs() - contest.notedAtMs > READ_WITHIN_MS) {
        open.push([merchant, newest]);
      }
    }
    return open;
  }

  #wasAskedForLater(merchant: string, contest: Pick<Contest, 'answeredAtMs' | 'maxCallMs'>): boolean {
    const { callMs } = this.#held.get(merchant) ?? {};
    const tookMs = callMs === undefined ? contest.maxCallMs : callMs + MAX_TRIP_MS;
    const askedAtMs = this.#clock.monotonicMs() - this.#held.ageMs(merchant) - tookMs;
    return askedAtMs > contest.answeredAtMs;
  }
}
