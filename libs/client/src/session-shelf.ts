import type { Session } from './session.js';
import type { Time } from './time.js';

export type SessionSource = 'read' | 'events' | 'rejection';

export interface Arrival {
  readonly source: SessionSource;
  /** By the monotonic clock. */
  readonly endsAtMs: number;
  /** The generation in the report that it answers. */
  readonly rejected?: number;
}

/**
 * Holds the newest session, and does not hand it out past its end. Its generation never goes back, except when the
 * broker says so: one that answers a report of a generation with a lower one has begun again without its store's data.
 */
export class SessionShelf {
  readonly #time: Time;
  readonly #listeners = new Set<(session: Session, arrival: Arrival) => void>();
  #held: { readonly session: Session; readonly endsAtMs: number } | undefined;
  #newest = 0;

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
    const { endsAtMs, rejected = 0 } = arrival;
    if (generation < this.#newest && generation >= rejected) return false;
    if (endsAtMs <= this.#time.monotonicMs()) return false;
    this.#held = { session, endsAtMs };
    if (generation === this.#newest) return false;
    this.#newest = generation;
    for (const listener of [...this.#listeners]) listener(session, arrival);
    return true;
  }

  valid(): Session | undefined {
    return this.remainingMs() > 0 ? this.#held?.session : undefined;
  }

  /** Of the session that is held; 0 without one. */
  remainingMs(): number {
    return Math.max(0, (this.#held?.endsAtMs ?? 0) - this.#time.monotonicMs());
  }

  onNewer(listener: (session: Session, arrival: Arrival) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * The outcome of `work`, or the first session that is newer than this one, whichever comes first; the work's signal
   * aborts when it has been overtaken.
   */
  async orArrival(generation: number, work: (overtaken: AbortSignal) => Promise<Session>): Promise<Session> {
    const overtaken = new AbortController();
    let stopListening = (): void => undefined;
    const arrival = new Promise<Session>((resolve) => {
      stopListening = this.onNewer((newer) => {
        if (this.valid() === newer && newer.generation > generation) resolve(newer);
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
