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

/** A session that is found dead within this share of its lifetime has died early, … */
const EARLY_SHARE = 0.25;
/** … but never after this: a gateway that forgets sessions now and then is not somebody. */
const MAX_EARLY_MS = 3_600_000;

/** One early death is an event at the bank; so many in a row are somebody's doing. */
const DEATHS_OF_A_DUEL = 2;

/** A consumer that meets a dead session reports it again within one pause: after so many without a report, nobody does any more. */
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
 * Tells that somebody else creates sessions of a merchant, from what all replicas share: each session says how many
 * before it died early, and the store which one has. A death counts when the store had nothing newer of ours that can
 * have caused it, and a session counts once, whoever reports it and how often.
 */
export class EarlyDeaths {
  readonly #context: EarlyDeathsContext;
  /** The generation that died early, as the store knows it. */
  readonly #condemned = new Map<string, number>();
  /** The generation of which the store has said that its death says nothing. */
  readonly #acquitted = new Map<string, number>();
  readonly #asking = new Map<string, Promise<void>>();
  /** When the newest session was last reported, as far as this replica knows; by the monotonic clock. */
  readonly #lastReportsMs = new Map<string, number>();
  /** Merchants that somebody else was said to create for. */
  readonly #present = new Set<string>();
  readonly #endSubscription: () => void;

  constructor(context: EarlyDeathsContext) {
    this.#context = context;
    this.#endSubscription = context.held.onAnyNewer(({ merchant }) => this.#tell(merchant));
  }

  /**
   * A consumer found the session dead. Asks the store about it where its death would say something; in an outage nothing
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

  /** The store has it that this session died early. */
  note(merchant: string, generation: number): void {
    if (this.#condemned.get(merchant) !== generation)
      this.#noteReport(merchant, generation, this.#noLongerEarlyMs(merchant));
    this.#condemned.set(merchant, Math.max(generation, this.#condemned.get(merchant) ?? 0));
    this.#tell(merchant);
  }

  /** The store has it that this session was reported, to whichever replica: while that goes on, nobody has gone. */
  noteReported(merchant: string, generation: number, agoMs: number): void {
    // A clock of the store that was set back would make one old report new with every look.
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
    // A silence says nothing after the end: nobody has a session that could be reported.
    const sinceEndMs = Math.max(0, ageMs - msBetween(session.createdAt, session.expiresAt));
    // A budget that is spent may refuse a report for longer than a pause: it is one all the same.
    return Math.min(ageMs - earlyUntilMs(session), this.#quietMs(merchant)) < longMs + sinceEndMs;
  }

  /** While somebody else creates, and nobody has reported the session that is held: when that counts as over, by what every replica has. */
  overAt(merchant: string): Instant | undefined {
    const session = this.#context.held.get(merchant);
    if (session === undefined || this.#isCondemned(session) || !this.areForeign(merchant)) return undefined;
    return plusMs(session.createdAt, earlyUntilMs(session));
  }

  /** How far apart renewals for rejections are kept now; 0 while nobody else creates. */
  pauseMs(merchant: string): number {
    return this.areForeign(merchant) ? this.#settledPauseMs(merchant) : 0;
  }

  /**
   * What the next session has to say of those before it.
   * @param isDoubtful a call of ours may still end it
   * @returns no deaths before it when its own will say nothing
   */
  beforeNext(merchant: string, isDoubtful: boolean): SessionsBefore {
    const deathsBefore = this.#deathsBeforeNext(merchant, isDoubtful);
    const watchedSince = this.#watchedSince(merchant);
    return {
      ...(deathsBefore === undefined ? {} : { deathsBefore }),
      ...(watchedSince === undefined ? {} : { watchedSince }),
    };
  }

  /** Tells of what has ended by the passing of time alone. */
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

  /** A session that has died early was reported before this, whoever learns of it how late. */
  #noLongerEarlyMs(merchant: string): number {
    const { held } = this.#context;
    const session = held.get(merchant);
    return session === undefined ? 0 : Math.max(0, held.ageMs(merchant) - earlyUntilMs(session));
  }

  /** Since the last report of any session; without one, since there has been this session. */
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
    // The duel is over: the next session would bring it back without a new death.
    if (deaths >= DEATHS_OF_A_DUEL) return 0;
    if (session === undefined || this.#isCondemned(session)) return deaths;
    return held.ageMs(merchant) < earlyUntilMs(session) ? deaths : 0;
  }

  /** While sessions that nobody has reported follow one another, payments go on since the first of them. */
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
    // Others that hold newer than the store are about to say so.
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
    // It was watched for the length of another cool-down.
    watches.forget(merchant, 'cool_down');
    const generation = held.generationOf(merchant);
    events.emit({ event: 'foreign_authorizer', merchant, generation, isPresent, quietMs: this.#quietMs(merchant) });
  }
}
