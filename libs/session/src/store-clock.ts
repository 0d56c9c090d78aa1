import type { Clock, Instant } from '#libs/clock';
import { SKEW_TOLERANCE_MS } from './session-admission.js';

/** What happened to this process's two clocks, judged by the store's as a third. */
type ClockVerdict =
  | { readonly kind: 'agreed' }
  /** Our wall clock was set; real time went on as the monotonic clock says. */
  | { readonly kind: 'wall_set' }
  /** Our monotonic clock stood still (a suspended machine) while real time passed. */
  | { readonly kind: 'suspended'; readonly forMs: number };

const AGREED: ClockVerdict = { kind: 'agreed' };

/**
 * Watches three clocks: our wall clock, our monotonic clock, and the store's, as its answers show it. Each can be wrong
 * alone, and a replica whose clock is wrong may harm nobody but itself; two that agree outvote the third.
 */
export class StoreClock {
  readonly #clock: Clock;
  /** How far the store's clock was ahead of our monotonic one, as far as one answer can tell. */
  #offset: { readonly leastMs: number; readonly mostMs: number } | undefined;
  #steadySinceMs = Infinity;
  #wallOffsetMs: number;
  #settledOffsetMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#wallOffsetMs = this.#wallAheadMs();
    this.#settledOffsetMs = this.#wallOffsetMs;
  }

  /** How far our wall clock has moved against our monotonic one since both were last confirmed; 0 within tolerance. */
  get driftMs(): number {
    const driftMs = this.#wallAheadMs() - this.#wallOffsetMs;
    return Math.abs(driftMs) > SKEW_TOLERANCE_MS ? driftMs : 0;
  }

  /**
   * The store's clock as one answer showed it, between the request and now.
   * @returns what it proves about our own clocks
   */
  note(storeNow: Instant, askedAtMs: number): ClockVerdict {
    const answeredAtMs = this.#clock.monotonicMs();
    const before = this.#offset;
    this.#offset = { leastMs: storeNow - answeredAtMs, mostMs: storeNow - askedAtMs };
    const movedMs = before === undefined ? 0 : distanceMs(before, this.#offset);
    if (before === undefined || movedMs !== 0) this.#steadySinceMs = askedAtMs;
    const { driftMs } = this;
    this.believeMonotonic();
    if (driftMs === 0 || before === undefined) return AGREED;
    this.#wallOffsetMs = this.#wallAheadMs();
    if (driftMs > 0 && Math.abs(movedMs - driftMs) <= SKEW_TOLERANCE_MS) return { kind: 'suspended', forMs: driftMs };
    return { kind: 'wall_set' };
  }

  /** How long the machine may have been suspended since the store, or its silence, last settled which clock counts. */
  get suspectMs(): number {
    return Math.max(0, this.#wallAheadMs() - this.#settledOffsetMs);
  }

  /** The store cannot be asked which of our clocks is right: the monotonic one counts until it can. */
  believeMonotonic(): void {
    this.#settledOffsetMs = this.#wallAheadMs();
  }

  /**
   * How old a session is that the store says is `storeAgeMs` old. The store's clock is believed for the time during
   * which this process has watched it run evenly; before that, the older of what it and our wall clock say counts. A
   * store may count from the arrival of the publication: while the wall clocks agree, the time it was on its way counts
   * as well.
   */
  ageMs(storeAgeMs: number, createdAt: Instant): number {
    const watchedMs = this.#clock.monotonicMs() - this.#steadySinceMs;
    const wallAgeMs = this.#clock.now() - createdAt;
    const isBelieved = storeAgeMs >= 0 && storeAgeMs <= watchedMs;
    if (isBelieved && wallAgeMs - storeAgeMs > SKEW_TOLERANCE_MS) return storeAgeMs;
    return Math.max(0, storeAgeMs, wallAgeMs);
  }

  #wallAheadMs(): number {
    return this.#clock.now() - this.#clock.monotonicMs();
  }
}

/** By how much the second certainly differs from the first, beyond the tolerance; 0 when they may be the same. */
function distanceMs(
  first: { readonly leastMs: number; readonly mostMs: number },
  second: { readonly leastMs: number; readonly mostMs: number },
): number {
  if (second.leastMs > first.mostMs + SKEW_TOLERANCE_MS) return second.leastMs - first.mostMs;
  if (second.mostMs < first.leastMs - SKEW_TOLERANCE_MS) return second.mostMs - first.leastMs;
  return 0;
}
