import { type Clock, msBetween, plusMs } from '#libs/clock';
import { SKEW_TOLERANCE_MS } from './clock-skew.js';
import { MerchantListeners } from './merchant-listeners.js';
import type { ServeFacts } from './serve-decision.js';
import type { SessionSettings } from './session-settings.js';
import { type ClockVerdict, StoreClock } from './store-clock.js';
import type { Session, SessionLeft } from './session.js';

/** A session with the monotonic moment of the gateway's answer: it ages from there, whatever wall clocks are set to. */
interface Held {
  readonly session: Session;
  readonly answeredAtMs: number;
  /** How far the wall clock was ahead of the monotonic one when the session's moments were expressed in it. */
  readonly wallAheadMs: number;
  /** A consumer says that it is dead. */
  readonly isReported?: boolean;
}

/** The moments of a session are whole milliseconds: the truth is up to one later. */
const RESOLUTION_MS = 1;
/** The call and what comes before and after it: a turn at the gateway, a lease, a publication. */
const LAST_ATTEMPT_TIMEOUTS = 2;

type HeldListener = (session: Session) => void;

/**
 * The sessions in this replica's memory, from which reads are answered. A session is replaced only by one of a higher
 * generation, so that a late or repeated message never sets a replica back.
 */
export class HeldSessions {
  readonly storeClock: StoreClock;
  readonly #clock: Clock;
  readonly #held = new Map<string, Held>();
  /** Highest generation ever made, opened or called under: the floor of the next claim. */
  readonly #floors = new Map<string, number>();
  /** Highest generation ever held. */
  readonly #seen = new Map<string, number>();
  /** Generations that the store holds and this replica cannot open. */
  readonly #unusable = new Map<string, number>();
  readonly #listeners = new MerchantListeners<Session>();
  readonly #everyListener = new Set<HeldListener>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.storeClock = new StoreClock(clock);
  }

  get(merchant: string): Session | undefined {
    return this.#held.get(merchant)?.session;
  }

  generationOf(merchant: string): number {
    return this.#held.get(merchant)?.session.generation ?? 0;
  }

  /** The highest generation whose session this process has ever had for a merchant; 0 if none. */
  seen(merchant: string): number {
    return this.#seen.get(merchant) ?? 0;
  }

  /** What the next claim has to be above: everything this process has had, and every fence it has called under. */
  floor(merchant: string): number {
    return this.#floors.get(merchant) ?? 0;
  }

  /** A create call is made under this fence: whatever becomes of it, none is ever made under it again. */
  noteCalled(merchant: string, fence: number): void {
    if (fence > this.floor(merchant)) this.#floors.set(merchant, fence);
  }

  /** @returns false when this was known already */
  noteUnusable(merchant: string, generation: number): boolean {
    const known = this.#unusable.get(merchant);
    if (known !== undefined && known >= generation) return false;
    this.#unusable.set(merchant, generation);
    return true;
  }

  /**
   * The generation of a newer session that the store holds and none of our keys opens; undefined while there is none.
   */
  unopened(merchant: string): number | undefined {
    const unusable = this.#unusable.get(merchant) ?? 0;
    return unusable > this.generationOf(merchant) ? unusable : undefined;
  }

  /** What could not be opened may open now: the keys were changed, or the record is a different one. */
  forgetUnusable(merchant: string): void {
    this.#unusable.delete(merchant);
  }

  /**
   * The generation that a renewal would replace, and that need not be read again: it is held, or it is newer and cannot
   * be opened.
   */
  known(merchant: string): number {
    return Math.max(this.generationOf(merchant), this.#unusable.get(merchant) ?? 0);
  }

  /** Forgets a merchant that is no longer configured. */
  drop(merchant: string): void {
    this.#held.delete(merchant);
    this.#unusable.delete(merchant);
  }

  /**
   * @param ageMs since the gateway's answer
   * @returns false if the session is not newer than the held one, and nothing changed
   */
  adopt(session: Session, ageMs: number): boolean {
    const { merchant, generation } = session;
    if (generation <= this.generationOf(merchant)) return false;
    const answeredAtMs = this.#clock.monotonicMs() - ageMs;
    const held = { session: this.#onOurClock(session, ageMs), answeredAtMs, wallAheadMs: this.#wallAheadMs() };
    this.#held.set(merchant, held);
    this.#seen.set(merchant, Math.max(generation, this.seen(merchant)));
    this.noteCalled(merchant, generation);
    for (const listener of [...this.#everyListener]) listener(held.session);
    this.#listeners.tell(merchant, held.session);
    return true;
  }

  /** Since the gateway's answer; 0 when nothing is held. */
  ageMs(merchant: string): number {
    const held = this.#held.get(merchant);
    return held === undefined ? 0 : this.#clock.monotonicMs() - held.answeredAtMs;
  }

  /**
   * Time left, counted from the gateway's answer by the monotonic clock. A wall clock that got ahead of it may show
   * that the machine was suspended: until the store has shown which of the two is right, the pessimistic one counts.
   */
  facts(merchant: string): ServeFacts {
    const held = this.#held.get(merchant);
    if (held === undefined) return { held: false, leftMs: 0, freshMs: 0 };
    const { createdAt, expiresAt, mustRenewAt } = held.session;
    const agedMs = this.ageMs(merchant) + Math.max(0, this.#wallAheadMs() - held.wallAheadMs);
    const leftMs = msBetween(createdAt, expiresAt) - agedMs - RESOLUTION_MS;
    return { held: true, leftMs, freshMs: leftMs - msBetween(mustRenewAt, expiresAt) };
  }

  /** A consumer of any replica has reported this generation. */
  noteReported(merchant: string, generation: number): void {
    const held = this.#held.get(merchant);
    if (held?.session.generation === generation) this.#held.set(merchant, { ...held, isReported: true });
  }

  isReported(merchant: string): boolean {
    return this.#held.get(merchant)?.isReported === true;
  }

  /** How long there is something to serve, as far as anybody knows; 0 for a session that is over, or reported dead. */
  liveForMs(merchant: string): number {
    return this.isReported(merchant) ? 0 : Math.max(0, this.facts(merchant).leftMs);
  }

  /** The store has shown which of our clocks is right: sessions age, or move to the wall clock as it stands now. */
  reconcile(verdict: ClockVerdict): void {
    if (verdict.kind === 'agreed') return;
    const sleptMs = verdict.kind === 'suspended' ? verdict.forMs : 0;
    for (const [merchant, { session, answeredAtMs, ...rest }] of this.#held) {
      const agedSinceMs = answeredAtMs - sleptMs;
      const ageMs = this.#clock.monotonicMs() - agedSinceMs;
      const wallAheadMs = this.#wallAheadMs();
      const moved = { session: this.#onOurClock(session, ageMs), answeredAtMs: agedSinceMs, wallAheadMs };
      this.#held.set(merchant, { ...rest, ...moved });
    }
  }

  /** Nothing is left of a session that is held no longer. */
  leftOf({ merchant, generation, expiresAt, renewAt }: Session): SessionLeft {
    const leftMs = generation === this.generationOf(merchant) ? this.facts(merchant).leftMs : 0;
    return { expiresInMs: Math.max(0, leftMs), renewInMs: Math.max(0, leftMs - msBetween(renewAt, expiresAt)) };
  }

  /** The store cannot be asked which of our clocks is right: sessions age by the monotonic one until it can. */
  believeMonotonic(): void {
    const wallAheadMs = this.#wallAheadMs();
    for (const [merchant, held] of this.#held) this.#held.set(merchant, { ...held, wallAheadMs });
  }

  /** Until renewAt; zero or less from then on, and when there is no session. */
  untilRenewalMs(merchant: string): number {
    const session = this.get(merchant);
    if (session === undefined) return 0;
    return this.facts(merchant).leftMs - msBetween(session.renewAt, session.expiresAt);
  }

  /**
   * Until an attempt has to begin, so that it ends before the margin even if all of its time runs out. Negative when it
   * is too late.
   */
  untilLastAttemptMs(merchant: string, { gatewayTimeoutMs }: Pick<SessionSettings, 'gatewayTimeoutMs'>): number {
    return this.facts(merchant).freshMs - LAST_ATTEMPT_TIMEOUTS * gatewayTimeoutMs;
  }

  /**
   * Listens to the sessions of all merchants.
   * @returns a function that ends the subscription; the subscriber owns it
   */
  onAnyNewer(listener: HeldListener): () => void {
    this.#everyListener.add(listener);
    return () => void this.#everyListener.delete(listener);
  }

  /** @returns a function that ends the subscription; the subscriber owns it */
  onNewer(merchant: string, listener: HeldListener): () => void {
    return this.#listeners.add(merchant, listener);
  }

  #wallAheadMs(): number {
    return this.#clock.now() - this.#clock.monotonicMs();
  }

  /**
   * The moments as they are, unless their maker's wall clock and ours disagree: then shifted to ours, since a wrong
   * clock must harm nobody but its owner.
   */
  #onOurClock(session: Session, ageMs: number): Session {
    const createdAt = plusMs(this.#clock.now(), -ageMs);
    const byMs = msBetween(session.createdAt, createdAt);
    if (Math.abs(byMs) <= SKEW_TOLERANCE_MS) return session;
    return {
      ...session,
      createdAt,
      expiresAt: plusMs(session.expiresAt, byMs),
      renewAt: plusMs(session.renewAt, byMs),
      mustRenewAt: plusMs(session.mustRenewAt, byMs),
    };
  }
}
