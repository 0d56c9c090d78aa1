import type { Clock, ScheduledTask } from '#libs/clock';
import type { Session } from '#libs/session';
import type { Watcher } from './watcher.js';

/** Watchers that are written to in one go; between two goes the event loop answers what else has come. */
const BATCH = 250;

/** The watchers of one merchant. */
export class WatchedMerchant {
  readonly watchers = new Set<Watcher>();
  readonly #clock: Clock;
  #round: ScheduledTask | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A newer session takes over from one that is still being told: nobody needs both. */
  tell(session: Session): void {
    this.stop();
    this.#tellNext(session, [...this.watchers], 0);
  }

  stop(): void {
    this.#round?.cancel();
    this.#round = undefined;
  }

  #tellNext(session: Session, everyone: readonly Watcher[], from: number): void {
    for (const watcher of everyone.slice(from, from + BATCH)) {
      if (this.watchers.has(watcher)) watcher.send(session);
    }
    const next = from + BATCH;
    this.#round =
      next < everyone.length ? this.#clock.schedule(0, () => this.#tellNext(session, everyone, next)) : undefined;
  }
}
