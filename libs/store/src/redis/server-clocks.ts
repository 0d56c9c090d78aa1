import type { Clock } from '#libs/clock';

/**
 * What time it is at the server of each shard, by its own clock: at the latest what is said here, and earlier by at
 * most as long as the quickest answer took. So what is sent now cannot have been sent later than that, however long it
 * waits before the server runs it.
 */
export class ServerClocks {
  readonly #clock: Clock;
  /** How far each clock is ahead of our monotonic one, at least. */
  readonly #aheadMs = new Map<number, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * @param serverNowMs the server's clock when it ran what was asked, Unix milliseconds
   * @param askedAtMs by our monotonic clock
   */
  note(shard: number, serverNowMs: number, askedAtMs: number): void {
    const leastMs = serverNowMs - this.#clock.monotonicMs();
    const mostMs = serverNowMs - askedAtMs;
    const knownMs = this.#aheadMs.get(shard);
    // Below what is known: the clock was set back, or another server has taken over.
    if (knownMs === undefined || leastMs > knownMs || mostMs < knownMs) this.#aheadMs.set(shard, leastMs);
  }

  /** Unix milliseconds; undefined before the first answer of that shard. */
  nowMs(shard: number): number | undefined {
    const aheadMs = this.#aheadMs.get(shard);
    return aheadMs === undefined ? undefined : this.#clock.monotonicMs() + aheadMs;
  }
}
