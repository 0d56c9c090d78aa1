import type { Clock } from '#libs/clock';

/** A store that has not answered for this long, although asked again, counts as gone. */
export const LASTING_SILENCE_MS = 5_000;
const MIN_QUESTIONS = 3;
/**
 * A query that took this long, or came this long after the one before it, was sent by a process that was itself
 * stalled.
 */
const STALLED_AFTER_MS = 3_000;

/**
 * Whether the store's silence is lasting: only then may a replica create a session alone. An answer, even a refusal,
 * ends the silence; a stall of this process does not count as one.
 */
export class StoreSilence {
  readonly #clock: Clock;
  #sinceMs = 0;
  #lastAskedAtMs = 0;
  #answeredAtMs = -Infinity;
  #unanswered = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isLasting(): boolean {
    const forMs = this.#clock.monotonicMs() - this.#sinceMs;
    return this.#unanswered >= MIN_QUESTIONS && forMs >= LASTING_SILENCE_MS;
  }

  answered(): void {
    this.#unanswered = 0;
    this.#answeredAtMs = this.#clock.monotonicMs();
  }

  unanswered(askedAtMs: number): void {
    const tookMs = this.#clock.monotonicMs() - askedAtMs;
    const pausedMs = askedAtMs - this.#lastAskedAtMs;
    this.#lastAskedAtMs = Math.max(this.#lastAskedAtMs, askedAtMs);
    if (tookMs > STALLED_AFTER_MS) {
      this.#unanswered = 0;
      return;
    }
    // Sent before the store was last heard: it says nothing about what came after.
    if (askedAtMs < this.#answeredAtMs) return;
    if (this.#unanswered === 0 || pausedMs > STALLED_AFTER_MS) this.#startCounting(askedAtMs);
    else this.#unanswered += 1;
  }

  #startCounting(askedAtMs: number): void {
    this.#sinceMs = askedAtMs;
    this.#unanswered = 1;
  }
}
