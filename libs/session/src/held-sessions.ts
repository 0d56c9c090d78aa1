import { type Clock, msBetween } from '#libs/clock';
import type { BrokerError } from '#libs/errors';
import type { ServeFacts } from './decisions.js';
import { generationOf, type Merchant, type Moment, serveFactsOf } from './merchant.js';
import { unknownMerchant, untilRenewalMsOf } from './merchant.js';
import type { HandoverOutcome } from './ports/session-events.js';
import type { RenewalResult } from './ports/session-store.js';
import type { Session, SessionLeft } from './session.js';
import { StoreClock } from './store-clock.js';

type HeldListener = (session: Session) => void;

/** A merchant at this replica: what is known of it, and who waits for that to change. Nothing here decides anything. */
export interface Entry {
  merchant: Merchant;
  /** Those who wait for a newer session, or for an attempt to fail. */
  readonly waiting: Set<() => void>;
  readonly sharing: ((result: RenewalResult) => void)[];
  /** The gateway at which there is room for it. */
  gateway?: string | undefined;
  traced?: ((result: RenewalResult) => void) | undefined;
  /** Questions under way, shared by all who ask at once. */
  question?: Promise<BrokerError | undefined> | undefined;
  judging?: Promise<void> | undefined;
  /** Highest generation rejected here, to tell the first report of a death from its echoes. */
  rejectedUpTo: number;
  /** The hand-over that this replica leads, and the last one that it has heard of. */
  led?: LedHandover | undefined;
  live?: { readonly generation: number; readonly endsAtMs: number; answers: number } | undefined;
}

/** The claimant's side: who takes part, and who is ready. */
export interface LedHandover {
  readonly generation: number;
  readonly ready: Set<string>;
  participants: number;
  /** Replicas that have said how many participants they have, and how many have to. */
  heard: number;
  toHear: number;
  /** The first outcome stands. */
  readonly end: (outcome: HandoverOutcome) => void;
}

/**
 * The merchants of one replica: the only place where anything is kept by merchant, and what reads are answered from.
 * A session is replaced only by one of a higher generation.
 */
export class HeldSessions {
  readonly storeClock: StoreClock;
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();
  readonly #everyListener = new Set<HeldListener>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.storeClock = new StoreClock(clock);
  }

  get entries(): Iterable<Entry> {
    return this.#entries.values();
  }

  get moment(): Moment {
    return { ms: this.#clock.monotonicMs(), suspectMs: this.storeClock.suspectMs };
  }

  /** The merchant's own, which is new if nothing was known of it. */
  entryOf(id: string): Entry {
    const known = this.#entries.get(id);
    if (known !== undefined) return known;
    const entry: Entry = {
      merchant: unknownMerchant(id),
      waiting: new Set(),
      sharing: [],
      rejectedUpTo: 0,
    };
    this.#entries.set(id, entry);
    return entry;
  }

  /** What is known of the merchant; nothing of one that was never heard of. */
  of(id: string): Merchant {
    return this.#entries.get(id)?.merchant ?? unknownMerchant(id);
  }

  find(id: string): Entry | undefined {
    return this.#entries.get(id);
  }

  /** Keeps what is known now, and tells those who wait for that. */
  keep(entry: Entry, merchant: Merchant): void {
    const before = entry.merchant;
    entry.merchant = merchant;
    const { held, failure } = merchant;
    if (held !== undefined && held.session.generation > generationOf(before))
      for (const listener of [...this.#everyListener]) listener(held.session);
    if (held !== before.held || failure !== before.failure) for (const look of [...entry.waiting]) look();
  }

  forget(id: string): void {
    this.#entries.delete(id);
  }

  get(id: string): Session | undefined {
    return this.#entries.get(id)?.merchant.held?.session;
  }

  generationOf(id: string): number {
    return generationOf(this.of(id));
  }

  facts(id: string): ServeFacts {
    return serveFactsOf(this.of(id), this.moment);
  }

  /** Until renewAt; zero or less from then on, and when there is no session. */
  untilRenewalMs(id: string): number {
    return untilRenewalMsOf(this.of(id), this.moment);
  }

  /** Nothing is left of a session that is no longer the held one. */
  leftOf({ merchant, generation, expiresAt, renewAt }: Session): SessionLeft {
    const leftMs = generation === this.generationOf(merchant) ? this.facts(merchant).leftMs : 0;
    return { expiresInMs: Math.max(0, leftMs), renewInMs: Math.max(0, leftMs - msBetween(renewAt, expiresAt)) };
  }

  /**
   * Listens to the sessions of all merchants.
   * @returns a function that ends the subscription; the subscriber owns it
   */
  onAnyNewer(listener: HeldListener): () => void {
    this.#everyListener.add(listener);
    return () => void this.#everyListener.delete(listener);
  }
}
