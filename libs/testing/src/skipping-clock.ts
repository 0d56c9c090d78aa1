import { type Instant, plusMs, SystemClock } from '#libs/clock';

/** Real time, of which a test can skip any length. Timers that run already keep their pace: what is asked notices. */
export class SkippingClock extends SystemClock {
  #skippedMs = 0;

  override now(): Instant {
    return plusMs(super.now(), this.#skippedMs);
  }

  override monotonicMs(): number {
    return super.monotonicMs() + this.#skippedMs;
  }

  skip(durationMs: number): void {
    this.#skippedMs += durationMs;
  }
}
