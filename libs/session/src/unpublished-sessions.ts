import { type Clock, msBetween } from '#libs/clock';
import type { OfferResult, SessionStore } from './ports/session-store.js';
import type { Session } from './session.js';
import { isStoreOutage } from './store-outage.js';

/** Offers in flight at once: a store that was emptied is told about every merchant. */
const LANES = 8;

/** A refused session is not offered again at once: whatever is newer is on its way. */
const REFUSED_PAUSE_MS = 5_000;
/** Nor is one that hit a bug of ours twice: every look at the store still shows that it lacks it. */
const BROKEN_PAUSE_MS = 1_000;

/** A session that the gateway has made and the store does not have. */
export interface UnpublishedSession {
  readonly session: Session;
  /** When the gateway's answer was complete, by the monotonic clock. */
  readonly answeredAtMs: number;
  /** The highest generation known when it was made. */
  readonly known: number;
}

interface UnpublishedParts {
  readonly store: SessionStore;
  readonly clock: Clock;
  /** The store's answer to an offer. */
  readonly onAnswer: (offered: UnpublishedSession, answer: OfferResult) => void;
  /** There is something to offer. */
  readonly onKept: () => void;
  /** A bug of ours concerning one session; the others are offered all the same. */
  readonly onBroken: (error: unknown) => void;
}

/**
 * Sessions that are newer than what the store has: made alone, made under a lease that has ended since, or lost by the
 * store. They are offered until the store has taken or refused them; the fence decides.
 */
export class UnpublishedSessions {
  readonly #parts: UnpublishedParts;
  readonly #kept = new Map<string, UnpublishedSession>();
  readonly #resting = new Map<string, { readonly generation: number; readonly untilMs: number }>();
  #offering: Promise<void> | undefined;

  constructor(parts: UnpublishedParts) {
    this.#parts = parts;
  }

  /** One that is older than what is already kept is of no use. */
  keep(unpublished: UnpublishedSession): void {
    const { merchant, generation } = unpublished.session;
    const kept = this.#kept.get(merchant);
    if (kept !== undefined && kept.session.generation >= generation) return;
    if (this.#rests(merchant, generation)) return;
    this.#kept.set(merchant, unpublished);
    this.#parts.onKept();
  }

  forget(merchant: string): void {
    this.#kept.delete(merchant);
    this.#resting.delete(merchant);
  }

  /** @throws BrokerError `store_unavailable` or `store_refused`; what was not offered yet is offered next time */
  offerAll(): Promise<void> {
    if (this.#offering === undefined && this.#kept.size === 0) return Promise.resolve();
    this.#offering ??= this.#offerEach().finally(() => (this.#offering = undefined));
    return this.#offering;
  }

  async #offerEach(): Promise<void> {
    const waiting = [...this.#kept.values()].values();
    const lane = async (): Promise<void> => {
      for (const unpublished of waiting) {
        if (this.#kept.get(unpublished.session.merchant) === unpublished) await this.#offer(unpublished);
      }
    };
    // All lanes have ended before the next round begins: nothing is offered twice at once.
    const ended = await Promise.allSettled(Array.from({ length: LANES }, lane));
    const failed = ended.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  async #offer(unpublished: UnpublishedSession): Promise<void> {
    const { clock, store, onAnswer, onBroken } = this.#parts;
    const { session, answeredAtMs, known } = unpublished;
    const ageMs = clock.monotonicMs() - answeredAtMs;
    const nextDueInMs = Math.max(0, msBetween(session.createdAt, session.renewAt) - ageMs);
    let answer: OfferResult | undefined;
    try {
      answer = await store.offer({ session, ageMs, nextDueInMs, known });
    } catch (error) {
      if (isStoreOutage(error)) throw error;
      onBroken(error);
    }
    // Another one may have been kept in the meantime.
    if (this.#kept.get(session.merchant) === unpublished) this.#kept.delete(session.merchant);
    const { merchant, generation } = session;
    if (answer?.kind !== 'taken') {
      const isBrokenAgain = this.#resting.get(merchant)?.generation === generation;
      const pauseMs = answer !== undefined ? REFUSED_PAUSE_MS : isBrokenAgain ? BROKEN_PAUSE_MS : 0;
      this.#resting.set(merchant, { generation, untilMs: clock.monotonicMs() + pauseMs });
    }
    if (answer !== undefined) onAnswer(unpublished, answer);
  }

  #rests(merchant: string, generation: number): boolean {
    const resting = this.#resting.get(merchant);
    if (resting === undefined || resting.generation < generation) return false;
    return this.#parts.clock.monotonicMs() < resting.untilMs;
  }
}
