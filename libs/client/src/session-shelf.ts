import type { Session } from './session.js';
import type { Time } from './time.js';

export type SessionSource = 'read' | 'events' | 'poll' | 'rejection';

export interface Arrival {
  readonly source: SessionSource;
  /** The `Date` of the answer that brought it, as milliseconds since 1970, if there was one. */
  readonly brokerTimeMs: number | undefined;
}

export interface HeldSession {
  readonly session: Session;
  /** Already resolved, so that a warm read allocates nothing. */
  readonly promise: Promise<Session>;
  /** Its end on each clock; whichever comes first counts. */
  readonly endsAtWallMs: number;
  readonly endsAtMonotonicMs: number;
  /** From then on, a newer one should have arrived. */
  readonly overdueAtMonotonicMs: number;
}

/** A renewal takes the broker a moment: until that has passed, nothing is late. */
const RENEWAL_GRACE_MS = 2_000;

/** Holds the newest session. Its generation never goes back, and it is not handed out past its expiry. */
export class SessionShelf {
  readonly #time: Time;
  readonly #listeners = new Set<(session: Session, arrival: Arrival) => void>();
  #held: HeldSession | undefined;
  #newest = 0;
  #suspected = 0;

  constructor(time: Time) {
    this.#time = time;
  }

  /** The generation of the newest session ever held, expired or not; 0 before the first. */
  get newest(): number {
    return this.#newest;
  }

  /**
   * Takes a session if it is not older than any before it and not past its expiry. One that is already held is only
   * measured again, as a clock may have been set since.
   * @returns whether it is newer than every one before it
   */
  offer(session: Session, arrival: Arrival): boolean {
    if (session.generation < this.#newest) return false;
    const held = this.#measure(session, arrival.brokerTimeMs);
    if (held.endsAtWallMs <= this.#time.now()) return false;
    this.#held = held;
    if (session.generation === this.#newest) return false;
    this.#newest = session.generation;
    for (const listener of [...this.#listeners]) listener(session, arrival);
    return true;
  }

  valid(): HeldSession | undefined {
    const held = this.#held;
    return held !== undefined && this.remainingMs(held) > 0 ? held : undefined;
  }

  /** The held session, if there is nothing to consider: it lasts for `wantedMs`, is not late and not suspected. */
  untroubled(wantedMs: number): HeldSession | undefined {
    const held = this.#held;
    if (held === undefined || held.session.generation <= this.#suspected) return undefined;
    const monotonicMs = this.#time.monotonicMs();
    if (monotonicMs >= held.overdueAtMonotonicMs) return undefined;
    // Written so that NaN does not pass either.
    const lasts = wantedMs >= 0 && monotonicMs + wantedMs < held.endsAtMonotonicMs;
    return lasts && this.#time.now() + wantedMs < held.endsAtWallMs ? held : undefined;
  }

  remainingMs(held: HeldSession): number {
    return Math.min(held.endsAtWallMs - this.#time.now(), held.endsAtMonotonicMs - this.#time.monotonicMs());
  }

  isOverdue(held: HeldSession): boolean {
    return this.#time.monotonicMs() >= held.overdueAtMonotonicMs;
  }

  /** Someone says that the gateway no longer accepts it: reads then look twice, unless it is acquitted. */
  suspect(generation: number): void {
    this.#suspected = Math.max(this.#suspected, generation);
  }

  acquit(generation: number): void {
    if (this.#suspected === generation) this.#suspected = 0;
  }

  onNewer(listener: (session: Session, arrival: Arrival) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * The outcome of `work`, or the first newer session that is good enough, whichever comes first; the work's signal
   * aborts when it has been overtaken.
   */
  async orArrival(
    isEnough: (held: HeldSession) => boolean,
    work: (overtaken: AbortSignal) => Promise<Session>,
  ): Promise<Session> {
    const overtaken = new AbortController();
    let stopListening = (): void => undefined;
    const arrival = new Promise<Session>((resolve) => {
      stopListening = this.onNewer((session) => {
        const held = this.valid();
        if (held?.session === session && isEnough(held)) resolve(session);
      });
    });
    try {
      return await Promise.race([arrival, work(overtaken.signal)]);
    } finally {
      stopListening();
      overtaken.abort();
    }
  }

  clear(): void {
    this.#held = undefined;
    this.#listeners.clear();
  }

  #measure(session: Session, brokerTimeMs: number | undefined): HeldSession {
    const [now, monotonic] = [this.#time.now(), this.#time.monotonicMs()];
    // A wall clock that is behind the broker's would keep a session past its end. One that is ahead ends it early,
    // which is harmless. `Date` has whole seconds, so the error is less than one second.
    const behindMs = brokerTimeMs === undefined ? 0 : Math.max(0, brokerTimeMs - now);
    const endsAtWallMs = Date.parse(session.expiresAt) - behindMs;
    const overdueInMs = Date.parse(session.renewAt) - behindMs - now + RENEWAL_GRACE_MS;
    return {
      session,
      promise: Promise.resolve(session),
      endsAtWallMs,
      endsAtMonotonicMs: monotonic + endsAtWallMs - now,
      overdueAtMonotonicMs: monotonic + overdueInMs,
    };
  }
}
