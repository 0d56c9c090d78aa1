import { type Clock, type Instant, msBetween, plusMs } from '#libs/clock';
import type { Grace } from './grace.js';
import type { HeldSessions } from './held-sessions.js';
import type { MomentWatches } from './moment-watches.js';
import type { Merchants } from './ports/merchants.js';
import type { SessionEvents } from './ports/session-events.js';
import type { SessionStore } from './ports/session-store.js';
import type { SessionsBefore } from './session-admission.js';
import type { Session } from './session.js';
import { isStoreOutage } from './store-outage.js';

/**
 * The gateway's codes for a dead session, whatever the status (interface description, "Later requests"). A bare 401 is
 * none of them: it may come from a firewall, or mean one request alone.
 */
export const deathCodes: readonly string[] = [
  'b_expired_token',
  'b_used_token',
  'b_previous_auth_token_expired',
  'b_unknown_device',
  'b_session_doesnt_exist',
  'b_session_doesnt_exists',
];

export const isDeathCode = (reason: string | undefined): boolean => deathCodes.some((code) => code === reason);

/** A session found dead within this share of its lifetime died early, … */
const EARLY_SHARE = 0.25;
/** … but never later than this: a gateway that forgets a session now and then is not somebody else creating. */
const MAX_EARLY_MS = 3_600_000;

/** One early death is an event at the bank; this many in a row mean that somebody else creates sessions. */
const DEATHS_OF_A_DUEL = 2;

/**
 * A consumer that meets a dead session reports it again within one pause: after this many pauses without a report,
 * nobody meets one any more.
 */
const QUIET_PAUSES = 2;

export interface EarlyDeathsContext {
  readonly held: HeldSessions;
  readonly store: SessionStore;
  readonly grace: Grace;
  readonly watches: MomentWatches;
  readonly merchants: Merchants;
  readonly events: SessionEvents;
  readonly clock: Clock;
}

function earlyUntilMs({ createdAt, expiresAt }: Session): number {
  return Math.min(MAX_EARLY_MS, EARLY_SHARE * msBetween(createdAt, expiresAt));
}

/**
 * Detects that somebody else creates sessions of a merchant, from what all replicas share: each session says how many
 * before it died early, and the store knows which one did. A death counts if the store had nothing newer of ours that
 * could have caused it, and a session counts once, no matter who reports it or how often.
 */
export class EarlyDeaths {
  readonly #context: EarlyDeathsContext;
  /** The generation that died early, according to the store. */
  readonly #condemned = new Map<string, number>();
  /** The generation whose death proves nothing, according to the store. */
  readonly #acquitted = new Map<string, number>();
  readonly #asking = new Map<string, Promise<void>>();
  /** When the newest session was last reported, as far as this replica knows; by the monotonic clock. */
  readonly #lastReportsMs = new Map<string, number>();
  /** Merchants last announced as having somebody else create sessions for them. */
  readonly #present = new Set<string>();
  readonly #endSubscription: () => void;

  constructor(context: EarlyDeathsContext) {
    this.#context = context;
    this.#endSubscription = context.held.onAnyNewer(({ merchant }) => this.#tell(merchant));
  }

  /**
   * A consumer found the session dead. Asks the store about it if its death would prove something; in an outage nothing
   * is known, and nothing counts.
   */
  async report(merchant: string, generation: number): Promise<void> {
    this.#noteReport(merchant, generation, 0);
    if (!this.#isTelling(merchant, generation)) return;
    const underway = this.#asking.get(merchant);
    if (underway !== undefined) return underway;
    const asking = this.#ask(merchant, generation).finally(() => this.#asking.delete(merchant));
    this.#asking.set(merchant, asking);
    return asking;
  }

  /** The store says that this session died early. */
  note(merchant: string, generation: number): void {
    if (this.#condemned.get(merchant) !== generation)
      this.#noteReport(merchant, generation, this.#noLongerEarlyMs(merchant));
    this.#context.held.noteReported(merchant, generation);
    this.#condemned.set(merchant, Math.max(generation, this.#condemned.get(merchant) ?? 0));
    this.#tell(merchant);
  }

  /**
   * The store says that this session was reported, to whichever replica: while reports keep coming, whoever creates has
   * not stopped.
   */
  noteReported(merchant: string, generation: number, agoMs: number): void {
    // With a store clock that was set back, one old report would look new every time.
    if (this.#condemned.get(merchant) !== generation || agoMs < 0) return;
    this.#noteReport(merchant, generation, agoMs);
    this.#tell(merchant);
  }

  /** Whether somebody else creates sessions of the merchant, as far as is known now. */
  areForeign(merchant: string): boolean {
    const { held } = this.#context;
    const session = held.get(merchant);
    const deaths = this.#deathsUpTo(session);
    if (session === undefined || deaths === undefined || deaths < DEATHS_OF_A_DUEL) return false;
    const ageMs = held.ageMs(merchant);
    if (!this.#isCondemned(session)) return ageMs < earlyUntilMs(session);
    const longMs = QUIET_PAUSES * this.#settledPauseMs(merchant);
    // Silence after the end says nothing: nobody has a session left to report.
    const sinceEndMs = Math.max(0, ageMs - msBetween(session.createdAt, session.expiresAt));
    // A spent budget may refuse a report for longer than a pause: it is a report all the same.
    return Math.min(ageMs - earlyUntilMs(session), this.#quietMs(merchant)) < longMs + sinceEndMs;
  }

  /**
   * While somebody else creates and nobody has reported the held session: when that counts as over, judged by what
   * every replica has.
   */
  overAt(merchant: string): Instant | undefined {
    const session = this.#context.held.get(merchant);
    if (session === undefined || this.#isCondemned(session) || !this.areForeign(merchant)) return undefined;
    return plusMs(session.createdAt, earlyUntilMs(session));
  }

  /** How far apart renewals for rejections are kept at least: far if somebody else creates, or if the bank did not say. */
  pauseMs(merchant: string, reason: string | undefined): number {
    return this.areForeign(merchant) || !isDeathCode(reason) ? this.#settledPauseMs(merchant) : 0;
  }

  /**
   * What the next session has to say about those before it.
   * @param isDoubtful a call of ours may still end it
   * @returns no deaths before it if its own death will prove nothing
   */
  beforeNext(merchant: string, isDoubtful: boolean): SessionsBefore {
    const deathsBefore = this.#deathsBeforeNext(merchant, isDoubtful);
    const watchedSince = this.#watchedSince(merchant);
    return {
      ...(deathsBefore === undefined ? {} : { deathsBefore }),
      ...(watchedSince === undefined ? {} : { watchedSince }),
    };
  }

  /** Announces what has ended merely because time has passed. */
  review(): void {
    for (const merchant of this.#present) this.#tell(merchant);
  }

  forget(merchant: string): void {
    this.#condemned.delete(merchant);
    this.#acquitted.delete(merchant);
    this.#lastReportsMs.delete(merchant);
    this.#present.delete(merchant);
  }

  close(): void {
    this.#endSubscription();
  }

  #noteReport(merchant: string, generation: number, agoMs: number): void {
    const { held, clock } = this.#context;
    if (held.generationOf(merchant) !== generation) return;
    const atMs = clock.monotonicMs() - agoMs;
    this.#lastReportsMs.set(merchant, Math.max(atMs, this.#lastReportsMs.get(merchant) ?? -Infinity));
  }

  /** A session that died early was reported at least this long ago, however late this replica learns of it. */
  #noLongerEarlyMs(merchant: string): number {
    const { held } = this.#context;
    const session = held.get(merchant);
    return session === undefined ? 0 : Math.max(0, held.ageMs(merchant) - earlyUntilMs(session));
  }

  /** Since the last report of any session; without one, since the current session was created. */
  #quietMs(merchant: string): number {
    const { held, clock } = this.#context;
    const lastMs = this.#lastReportsMs.get(merchant);
    return lastMs === undefined ? held.ageMs(merchant) : clock.monotonicMs() - lastMs;
  }

  #deathsBeforeNext(merchant: string, isDoubtful: boolean): number | undefined {
    const { held } = this.#context;
    const session = held.get(merchant);
    const deaths = this.#deathsUpTo(session) ?? 0;
    if (this.areForeign(merchant)) return deaths;
    if (isDoubtful) return undefined;
    // The duel is over: the next session would revive it without a new death.
    if (deaths >= DEATHS_OF_A_DUEL) return 0;
    if (session === undefined || this.#isCondemned(session)) return deaths;
    return held.ageMs(merchant) < earlyUntilMs(session) ? deaths : 0;
  }

  /** While sessions that nobody has reported follow one another, payments have been working since the first of them. */
  #watchedSince(merchant: string): Instant | undefined {
    const { held } = this.#context;
    const session = held.get(merchant);
    const isReported = this.#quietMs(merchant) < held.ageMs(merchant);
    if (session === undefined || isReported || this.overAt(merchant) === undefined) return undefined;
    return session.watchedSince ?? session.createdAt;
  }

  #isTelling(merchant: string, generation: number): boolean {
    const { held, grace } = this.#context;
    const session = held.get(merchant);
    if (session?.generation !== generation || session.deathsBefore === undefined) return false;
    if (this.#isCondemned(session) || this.#acquitted.get(merchant) === generation) return false;
    // Replicas that hold something newer than the store are about to offer it.
    return grace.leftMs() === 0 && held.ageMs(merchant) < earlyUntilMs(session);
  }

  async #ask(merchant: string, generation: number): Promise<void> {
    try {
      if (await this.#context.store.condemn(merchant, generation)) this.note(merchant, generation);
      else this.#acquitted.set(merchant, generation);
    } catch (error) {
      if (!isStoreOutage(error)) throw error;
    }
  }

  #isCondemned({ merchant, generation }: Session): boolean {
    return this.#condemned.get(merchant) === generation;
  }

  #deathsUpTo(session: Session | undefined): number | undefined {
    if (session?.deathsBefore === undefined) return undefined;
    return session.deathsBefore + (this.#isCondemned(session) ? 1 : 0);
  }

  #settledPauseMs(merchant: string): number {
    return this.#context.merchants.settingsOf(merchant)?.foreignAuthorizerPauseMs ?? 0;
  }

  #tell(merchant: string): void {
    const isPresent = this.areForeign(merchant);
    if (isPresent === this.#present.has(merchant)) return;
    const { held, watches, events } = this.#context;
    if (isPresent) this.#present.add(merchant);
    else this.#present.delete(merchant);
    // It was watched for a cool-down of a different length.
    watches.forget(merchant, 'cool_down');
    const generation = held.generationOf(merchant);
    events.emit({ event: 'foreign_authorizer', merchant, generation, isPresent, quietMs: this.#quietMs(merchant) });
  }
}
