import type { Clock } from '#libs/clock';

interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

const MS_PER_S = 1_000;

/** A token bucket per key: at most `burst` at once, and `perSecond` in the long run. */
export class RateLimiter {
  readonly #rate: Rate;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(rate: Rate, clock: Clock) {
    this.#rate = rate;
    this.#clock = clock;
  }

  /** @returns 0 if one more is allowed, which is then counted; otherwise the milliseconds after which it is */
  take(key: string): number {
    const { perSecond, burst } = this.#rate;
    const nowMs = this.#clock.monotonicMs();
    const bucket = this.#buckets.get(key) ?? { tokens: burst, filledAtMs: nowMs };
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.filledAtMs) / MS_PER_S) * perSecond);
    bucket.filledAtMs = nowMs;
    this.#buckets.set(key, bucket);
    if (bucket.tokens < 1) return Math.max(1, Math.round(((1 - bucket.tokens) / perSecond) * MS_PER_S));
    bucket.tokens -= 1;
    return 0;
  }
}
