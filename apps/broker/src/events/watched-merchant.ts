import type { Clock, ScheduledTask } from '#libs/clock';
import type { Session } from '#libs/session';
import type { Watcher } from './watcher.js';

/** How many watchers are written to in one go; between batches, the event loop can serve other requests. */
const BATCH = 250;

/** What a watcher is sent, by its place among those of its merchant. */
export type FrameOf = (watcher: Watcher, place: number) => Uint8Array;

/** The watchers of one merchant. */
export class WatchedMerchant {
  readonly watchers = new Set<Watcher>();
  readonly #clock: Clock;
  #round: ScheduledTask | undefined;
  #noticeRound: ScheduledTask | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A newer session replaces one that is still being sent out: no one needs both. */
  tell(session: Session): void {
    this.stop();
    this.#tellNext(session, [...this.watchers], 0);
  }

  /**
   * Sends each watcher that takes part in hand-overs its own notice. If a session arrives meanwhile, it makes the rest
   * obsolete.
   * @returns how many there are that answer
   */
  notify(frameOf: FrameOf): number {
    this.#noticeRound?.cancel();
    const participants = [...this.watchers].filter(({ takesPart }) => takesPart);
    const answering = participants.filter(({ isSilent }) => !isSilent).length;
    this.#notifyNext(frameOf, participants, 0);
    return answering;
  }

  stop(): void {
    this.#round?.cancel();
    this.#round = undefined;
    this.#noticeRound?.cancel();
    this.#noticeRound = undefined;
  }

  #tellNext(session: Session, everyone: readonly Watcher[], from: number): void {
    for (const watcher of everyone.slice(from, from + BATCH)) {
      if (this.watchers.has(watcher)) watcher.send(session);
    }
    const next = from + BATCH;
    this.#round =
      next < everyone.length ? this.#clock.schedule(0, () => this.#tellNext(session, everyone, next)) : undefined;
  }

  #notifyNext(frameOf: FrameOf, participants: readonly Watcher[], from: number): void {
    for (const [place, watcher] of participants.slice(from, from + BATCH).entries()) {
      if (this.watchers.has(watcher)) watcher.notify(frameOf(watcher, from + place));
    }
    const next = from + BATCH;
    this.#noticeRound =
      next < participants.length
        ? this.#clock.schedule(0, () => this.#notifyNext(frameOf, participants, next))
        : undefined;
  }
}
