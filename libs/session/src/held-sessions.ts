import { type Clock, msBetween } from '#libs/clock';
import { MerchantListeners } from './merchant-listeners.js';
import type { ServeFacts } from './serve-decision.js';
import type { Session } from './session.js';

/** A session with the monotonic moment at which it came: a wall clock that is set back cannot make it live longer. */
interface Held {
  readonly session: Session;
  readonly heldSinceMs: number;
  readonly leftWhenHeldMs: number;
}

/** The wall clock shows whole milliseconds: the truth is up to one later. */
const WALL_CLOCK_RESOLUTION_MS = 1;

export type HeldListener = (session: Session) => void;

/**
 * The sessions in this replica's memory: what reads are answered from. A session is replaced only by one of a higher
 * generation, so that a late or repeated message never takes a replica back.
 */
export class HeldSessions {
  readonly #clock: Clock;
  readonly #held = new Map<string, Held>();
  /** Highest generation ever seen, with or without the session: the floor of the next claim. */
  readonly #seen = new Map<string, number>();
  /** Generations that the store holds and nobody here can open. */
  readonly #unusable = new Map<string, number>();
  readonly #listeners = new MerchantListeners<Session>();
  readonly #everyListener = new Set<HeldListener>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(merchant: string): Session | undefined {
    return this.#held.get(merchant)?.session;
  }

  generationOf(merchant: string): number {
    return this.#held.get(merchant)?.session.generation ?? 0;
  }

  /** The highest generation this process has ever seen of a merchant; 0 when none. */
  seen(merchant: string): number {
    return this.#seen.get(merchant) ?? 0;
  }

  noteSeen(merchant: string, generation: number): void {
    if (generation > this.seen(merchant)) this.#seen.set(merchant, generation);
  }

  /** @returns false when this was known already */
  noteUnusable(merchant: string, generation: number): boolean {
    this.noteSeen(merchant, generation);
    if ((this.#unusable.get(merchant) ?? 0) >= generation) return false;
    this.#unusable.set(merchant, generation);
    return true;
  }

  /**
   * The generation that a renewal would replace: the held one, or a newer one that does not open. A generation that
   * was only announced does not count: it is about to be read, and replacing it would cost a create call.
   */
  replaceable(merchant: string): number {
    return Math.max(this.generationOf(merchant), this.#unusable.get(merchant) ?? 0);
  }

  /** Forgets a merchant that is no longer configured. */
  drop(merchant: string): void {
    this.#held.delete(merchant);
    this.#unusable.delete(merchant);
  }

  /**
   * @param ageMs how long ago the session was published, by the store's clock; 0 for one that was just created here
   * @returns false when the session is not newer than the held one, and nothing changed
   */
  adopt(session: Session, ageMs: number): boolean {
    if (session.generation <= this.generationOf(session.merchant)) return false;
    this.#held.set(session.merchant, {
      session,
      heldSinceMs: this.#clock.monotonicMs(),
      leftWhenHeldMs: msBetween(session.createdAt, session.expiresAt) - ageMs,
    });
    this.noteSeen(session.merchant, session.generation);
    for (const listener of [...this.#everyListener]) listener(session);
    this.#listeners.tell(session.merchant, session);
    return true;
  }

  /** Time left by whichever clock is the more pessimistic, wall or monotonic since the session came. */
  facts(merchant: string): ServeFacts {
    const held = this.#held.get(merchant);
    if (held === undefined) return { held: false, leftMs: 0, freshMs: 0 };
    const byWallMs = msBetween(this.#clock.now(), held.session.expiresAt) - WALL_CLOCK_RESOLUTION_MS;
    const byMonotonicMs = held.leftWhenHeldMs - (this.#clock.monotonicMs() - held.heldSinceMs);
    const leftMs = Math.min(byWallMs, byMonotonicMs);
    return { held: true, leftMs, freshMs: leftMs - msBetween(held.session.mustRenewAt, held.session.expiresAt) };
  }

  /** Until renewAt; zero or less from then on, and when there is no session. */
  untilRenewalMs(merchant: string): number {
    const session = this.get(merchant);
    if (session === undefined) return 0;
    return this.facts(merchant).leftMs - msBetween(session.renewAt, session.expiresAt);
  }

  /** Hears of every merchant's sessions. @returns a function that ends the subscription; the subscriber owns it */
  onAnyNewer(listener: HeldListener): () => void {
    this.#everyListener.add(listener);
    return () => void this.#everyListener.delete(listener);
  }

  /** @returns a function that ends the subscription; the subscriber owns it */
  onNewer(merchant: string, listener: HeldListener): () => void {
    return this.#listeners.add(merchant, listener);
  }
}
