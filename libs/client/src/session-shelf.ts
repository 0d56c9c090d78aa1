import type { LeftOfSession, Session } from './session.js';
import type { Time } from './time.js';

export type SessionSource = 'read' | 'events' | 'poll' | 'rejection';

export interface Arrival {
  readonly source: SessionSource;
  readonly left: LeftOfSession;
  /** The generation in the report that it answers. */
  readonly rejected?: number;
}

export interface HeldSession {
  readonly session: Session;
  /** Already resolved, so that a warm read allocates nothing. */
  readonly promise: Promise<Session>;
  /** Moments of the monotonic clock: its end, and from when on a newer one should have arrived. */
  readonly endsAtMs: number;
  readonly overdueAtMs: number;
}

/** A renewal takes the broker a moment: until that has passed, nothing is late. */
const RENEWAL_GRACE_MS = 2_000;

/**
 * Holds the newest session, and does not hand it out past its end. Its generation never goes back, except when the
 * broker says so: one that answers a report of a generation with a lower one has begun again without its store's data.
 */
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
   * Takes a session if it is not older than any before it and not past its end. One that is already held is only
   * measured again.
   * @returns whether it replaces the one before it
   */
  offer(session: Session, arrival: Arrival): boolean {
    const { generation } = session;
    const { left, rejected = 0 } = arrival;
    if (generation < this.#newest && generation >= rejected) return false;
    if (left.endsAtMs <= this.#time.monotonicMs()) return false;
    const overdueAtMs = left.renewsAtMs + RENEWAL_GRACE_MS;
    this.#held = { session, promise: Promise.resolve(session), endsAtMs: left.endsAtMs, overdueAtMs };
    if (generation === this.#newest) return false;
    this.#newest = generation;
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
    if (held === undefined || held.session.generation === this.#suspected) return undefined;
    const nowMs = this.#time.monotonicMs();
    // Written so that NaN does not pass either.
    const lasts = wantedMs >= 0 && nowMs + wantedMs < held.endsAtMs;
    return lasts && nowMs < held.overdueAtMs ? held : undefined;
  }

  remainingMs(held: HeldSession): number {
    return held.endsAtMs - this.#time.monotonicMs();
  }

  isOverdue(held: HeldSession): boolean {
    return this.#time.monotonicMs() >= held.overdueAtMs;
  }

  /** Someone says that the gateway no longer accepts it: reads then look twice, unless it is acquitted. */
  suspect(generation: number): void {
    if (generation === this.#newest) this.#suspected = generation;
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
}
