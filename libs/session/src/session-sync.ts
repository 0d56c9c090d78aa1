import { type Clock, msBetween, type ScheduledTask } from '#libs/clock';
import type { FailureBoard } from './failure-board.js';
import type { HeldSessions } from './held-sessions.js';
import type { Merchants } from './ports/merchants.js';
import type { SessionEvents } from './ports/session-events.js';
import type { Announcement, SessionStore, StoredState } from './ports/session-store.js';
import type { Renewer } from './renewer.js';
import { haveSameServerKey, type Session } from './session.js';
import { isStoreOutage } from './store-outage.js';

/** Merchants per question to the store. */
const PAGE = 500;
/** A merchant without a session is looked up this often, should its announcement be lost. */
const RECHECK_WITHOUT_SESSION_MS = 15_000;
const LONGEST_RECHECK_LAG_MS = 2_000;
const SHORTEST_RECHECK_MS = 250;
/** A replica that starts without its store looks after its merchants from here on. */
const FIRST_RECHECK_IN_OUTAGE_MS = 1_000;

export interface SessionSyncParts {
  readonly merchants: Merchants;
  readonly held: HeldSessions;
  readonly failures: FailureBoard;
  readonly renewer: Renewer;
  readonly store: SessionStore;
  readonly events: SessionEvents;
  readonly clock: Clock;
}

/**
 * Keeps this replica's memory equal to the store. Announcements make it fast; a re-read of every session past its
 * renewAt makes it certain, so that a lost announcement costs a delay and never a session past its margin.
 */
export class SessionSync {
  readonly #parts: SessionSyncParts;
  readonly #rechecks = new Map<string, ScheduledTask>();
  readonly #endSubscriptions: (() => void)[];
  #complete = false;
  /** Counts what made knowledge of the store worthless: a reading that began before is not the last word. */
  #invalidations = 0;
  #closed = false;

  constructor(parts: SessionSyncParts) {
    this.#parts = parts;
    this.#endSubscriptions = [
      parts.held.onAnyNewer((session) => this.#sessionAdopted(session)),
      parts.store.onAnnouncement((announcement) => this.#hear(announcement)),
    ];
  }

  /** Whether every merchant has been enrolled and read since the start or the last outage. */
  get isComplete(): boolean {
    return this.#complete;
  }

  /** In an outage: the store may lose what it knows, and every merchant has to be looked after from here. */
  invalidate(): void {
    this.#complete = false;
    this.#invalidations += 1;
    for (const merchant of this.#parts.merchants.ids()) {
      if (!this.#rechecks.has(merchant)) this.#planRecheckIn(merchant, FIRST_RECHECK_IN_OUTAGE_MS);
    }
  }

  /** Enrols and reads every merchant. @throws BrokerError `store_unavailable` */
  async syncAll(): Promise<void> {
    const before = this.#invalidations;
    await this.#enrolAndRead(this.#parts.merchants.ids());
    if (this.#invalidations === before) this.#complete = true;
  }

  /** Enrols and reads merchants that are new in the configuration; in an outage, with all others once it is over. */
  async add(merchants: readonly string[]): Promise<void> {
    try {
      await this.#enrolAndRead(merchants);
    } catch (error) {
      if (!isStoreOutage(error)) throw error;
      this.invalidate();
    }
  }

  /** A merchant that is not configured any more is not looked after any more. */
  forget(merchant: string): void {
    this.#rechecks.get(merchant)?.cancel();
    this.#rechecks.delete(merchant);
  }

  close(): void {
    this.#closed = true;
    for (const end of this.#endSubscriptions) end();
    for (const recheck of this.#rechecks.values()) recheck.cancel();
    this.#rechecks.clear();
  }

  /** Reads one merchant's state. @throws BrokerError `store_unavailable` */
  async refresh(merchant: string): Promise<void> {
    await this.#read([merchant]);
  }

  /** A failure that is no outage is a bug of ours: reported once, the replica goes on. */
  reportBroken(activity: string, error: unknown): void {
    if (!isStoreOutage(error)) this.#parts.events.emit({ event: 'broken', activity, error });
  }

  async #enrolAndRead(merchants: readonly string[]): Promise<void> {
    for (let start = 0; start < merchants.length; start += PAGE) {
      const page = merchants.slice(start, start + PAGE);
      await this.#parts.store.enrol(page);
      await this.#read(page);
    }
  }

  async #read(merchants: readonly string[]): Promise<void> {
    const states = await this.#parts.store.read(merchants);
    for (const state of states) this.#take(state);
    const lost = states.filter((state) => state.dueInMs === undefined).map((state) => state.merchant);
    if (lost.length > 0) await this.#parts.store.enrol(lost);
  }

  #take(state: StoredState): void {
    const { held, failures, events } = this.#parts;
    const { merchant, stored } = state;
    if (this.#parts.merchants.settingsOf(merchant) === undefined) return;
    if (state.failure === undefined) failures.clear(merchant);
    else failures.note(merchant, state.failure);
    if (stored.kind === 'session') this.#adopt(stored.session, stored.ageMs);
    if (stored.kind === 'unopenable' && held.noteUnusable(merchant, stored.generation)) {
      events.emit({ event: 'record_unopenable', merchant, generation: stored.generation });
    }
    this.#planRecheck(merchant);
  }

  #adopt(session: Session, ageMs: number): void {
    const { held, events } = this.#parts;
    const { merchant, generation } = session;
    const before = held.get(merchant);
    if (!held.adopt(session, ageMs)) return;
    const serverKeyChanged = before !== undefined && !haveSameServerKey(before, session);
    events.emit({ event: 'session_adopted', merchant, generation, source: 'store', serverKeyChanged });
  }

  #sessionAdopted(session: Session): void {
    this.#parts.failures.clear(session.merchant);
    this.#parts.renewer.forgetHoldOff(session.merchant);
    this.#planRecheck(session.merchant);
  }

  #hear(announcement: Announcement): void {
    const { merchant } = announcement;
    if (this.#parts.merchants.settingsOf(merchant) === undefined) return;
    if (announcement.kind === 'failed') {
      this.#parts.renewer.noteBackOff(merchant, announcement.retryInMs);
      this.#parts.failures.note(merchant, announcement.failure);
      return;
    }
    this.#parts.held.noteSeen(merchant, announcement.generation);
    // Whoever is renewing learns the result from the attempt itself, and re-reads when it lost the lease.
    if (this.#parts.renewer.isRenewing(merchant)) return;
    if (announcement.generation > this.#parts.held.generationOf(merchant)) this.#recheck(merchant);
  }

  /** An outage costs nothing but the delay until the next re-read, which is planned all the same. */
  #recheck(merchant: string): void {
    this.#refreshOrRenew(merchant).catch((error: unknown) => this.reportBroken('refresh', error));
  }

  /** Past its margin a session is renewed even without the store, if the merchant's settings allow it. */
  async #refreshOrRenew(merchant: string): Promise<void> {
    try {
      await this.refresh(merchant);
    } catch (error) {
      this.#planRecheck(merchant);
      if (!isStoreOutage(error)) throw error;
      const { held, renewer } = this.#parts;
      if (held.facts(merchant).freshMs > 0 || this.#closed) return;
      await renewer.renew({ merchant, trigger: 'schedule', newerThan: held.replaceable(merchant), coolDownMs: 0 });
    }
  }

  #planRecheck(merchant: string): void {
    this.#planRecheckIn(merchant, this.#untilRecheckMs(merchant));
  }

  #planRecheckIn(merchant: string, delayMs: number): void {
    this.#rechecks.get(merchant)?.cancel();
    if (this.#closed) return;
    this.#rechecks.set(
      merchant,
      this.#parts.clock.schedule(delayMs, () => this.#recheck(merchant)),
    );
  }

  /** Shortly after renewAt, then ever more often until expiry. */
  #untilRecheckMs(merchant: string): number {
    const session = this.#parts.held.get(merchant);
    const { leftMs } = this.#parts.held.facts(merchant);
    if (session === undefined || leftMs <= 0) return RECHECK_WITHOUT_SESSION_MS;
    const leadMs = msBetween(session.renewAt, session.expiresAt);
    const lagMs = Math.min(LONGEST_RECHECK_LAG_MS, Math.max(SHORTEST_RECHECK_MS, leadMs / 4));
    return Math.max(0, this.#parts.held.untilRenewalMs(merchant)) + lagMs;
  }
}
