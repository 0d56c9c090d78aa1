import { msBetween } from '#libs/clock';
import { adopt } from './adoption.js';
import { Following, PAGE } from './following.js';
import type { Announcement, StoredState } from './ports/session-store.js';
import { RecheckPlan } from './recheck-plan.js';
import { meansStoreIsAhead, type RenewalResult } from './renewal-result.js';
import type { Renewer } from './renewer.js';
import type { ReplicaContext } from './replica-context.js';
import type { ReportedDeaths } from './reported-deaths.js';
import { MAX_BACK_OFF_MS } from './retry-policy.js';
import type { Session } from './session.js';
import { isStoreOutage } from './store-outage.js';
import { UnopenedRecords } from './unopened-records.js';

/** A merchant without a session, or long overdue, is looked up this often, in case its announcement was lost. */
const MAX_RECHECK_MS = 15_000;
const MAX_FIRST_LAG_MS = 2_000;
const MIN_RECHECK_MS = 250;
/** Keeps replicas from all looking at once. */
const RECHECK_JITTER = 0.2;
/** When a replica that starts without its store begins to look after its merchants. */
const FIRST_RECHECK_IN_OUTAGE_MS = 1_000;
/**
 * By then replicas that hold what does not open here have written it again, and nothing has been created for want of
 * it.
 */
const MENDED_WITHIN_MS = 1_000;

export interface SessionSyncContext extends Omit<
  ReplicaContext,
  'gateway' | 'tracing' | 'settlements' | 'silence' | 'grace' | 'ceiling' | 'load' | 'recovery'
> {
  readonly renewer: Renewer;
  readonly reportedDeaths: Pick<ReportedDeaths, 'see'>;
}

/**
 * Keeps this replica's memory and the store in sync, in both directions: what is newer in the store is read, what is
 * newer at this replica is offered. Announcements make it fast; a look at every session past its renewAt makes it
 * certain.
 */
export class SessionSync {
  readonly #context: SessionSyncContext;
  readonly #following: Following;
  readonly #rechecks: RecheckPlan;
  readonly #unopened: UnopenedRecords;
  /** Looked at because their moment had come: they are renewed if nobody else has. */
  readonly #rechecked = new Set<string>();
  /** Looks since renewAt that found nothing new. */
  readonly #looks = new Map<string, number>();
  readonly #endSubscriptions: (() => void)[];
  #complete = false;
  /**
   * Counts the events that made our knowledge of the store worthless: a read that began before one is not the last
   * word.
   */
  #invalidations = 0;
  #closed = false;

  constructor(context: SessionSyncContext) {
    this.#context = context;
    this.#following = new Following({
      clock: context.clock,
      read: (merchants) => this.#read(merchants),
      onFailure: (merchants, error) => this.#unread(merchants, error),
    });
    this.#unopened = new UnopenedRecords({ ...context, onUntold: (error) => this.reportBroken('announcement', error) });
    this.#rechecks = new RecheckPlan(context.clock, (merchants) => this.#recheck(merchants));
    this.#endSubscriptions = [
      context.held.onAnyNewer((session) => this.#sessionAdopted(session)),
      context.store.onAnnouncement((announcement) => this.#hear(announcement)),
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
    for (const merchant of this.#context.merchants.ids()) {
      if (!this.#rechecks.has(merchant)) this.#rechecks.planIn(merchant, FIRST_RECHECK_IN_OUTAGE_MS);
    }
  }

  /** Takes a seat, and enrols and reads every merchant. @throws BrokerError `store_unavailable` or `store_refused` */
  async syncAll(): Promise<void> {
    const before = this.#invalidations;
    this.#context.renewer.takeSeat(await this.#context.store.seat(this.#context.owner));
    await this.#enrolAndRead(this.#context.merchants.ids());
    if (this.#invalidations === before) this.#complete = true;
    this.#context.renewer.letOthersOffer();
  }

  /** Enrols and reads newly configured merchants; in an outage, together with all others once it is over. */
  async add(merchants: readonly string[]): Promise<void> {
    try {
      await this.#enrolAndRead(merchants);
    } catch (error) {
      if (!isStoreOutage(error)) throw error;
      this.invalidate();
    }
  }

  /** One merchant, picked at random, shows whether the store still has what it had, and how its clock runs. */
  lookAtOne(): void {
    const merchants = this.#context.merchants.ids();
    const merchant = merchants[Math.floor(this.#context.random() * merchants.length)];
    if (merchant !== undefined) this.#following.want([merchant]);
  }

  /** Something newer may exist for these merchants. */
  want(merchants: readonly string[]): void {
    this.#following.want(merchants);
  }

  /**
   * A renewal has ended. Another replica's session is read at once. Our own is read as well, so that its due moment is
   * watched: that is not urgent, and many are read with one query.
   */
  follow(merchant: string, result: RenewalResult): void {
    if (meansStoreIsAhead(result)) this.#following.want([merchant]);
    else if (result.kind === 'renewed') this.#following.wantSoon(merchant);
  }

  /** The store answers again: reads now what could not be read. */
  retryNow(): void {
    this.#following.retryNow();
  }

  /** The reason for the merchant's back-off is gone. */
  renewNow(merchant: string): void {
    this.#renew(merchant, { isOverdue: true, ignoresBackOff: true });
  }

  /** A merchant that is no longer configured is no longer looked after. */
  forget(merchant: string): void {
    this.#rechecks.forget(merchant);
    this.#following.forget(merchant);
    this.#unopened.forget(merchant);
    this.#looks.delete(merchant);
  }

  close(): void {
    this.#closed = true;
    for (const end of this.#endSubscriptions) end();
    this.#rechecks.close();
    this.#following.close();
  }

  /** Reads one merchant's state. @throws BrokerError `store_unavailable` or `store_refused` */
  async refresh(merchant: string): Promise<void> {
    await this.#read([merchant]);
  }

  /** Any failure but an outage is a bug of ours: it is reported once, and the replica carries on. */
  reportBroken(activity: string, error: unknown): void {
    if (!isStoreOutage(error)) this.#context.events.emit({ event: 'broken', activity, error });
  }

  async #enrolAndRead(merchants: readonly string[]): Promise<void> {
    for (let start = 0; start < merchants.length; start += PAGE) {
      const page = merchants.slice(start, start + PAGE);
      await this.#context.store.enrol(page);
      await this.#read(page);
    }
  }

  async #read(merchants: readonly string[]): Promise<void> {
    const { held, store, clock, failures } = this.#context;
    const wanted = this.#unopened.wanted(merchants);
    const askedAtMs = clock.monotonicMs();
    const failedBefore = new Map(merchants.map((merchant) => [merchant, failures.get(merchant)]));
    const { states, now } = await store.read(wanted).catch((error: unknown) => {
      held.believeMonotonic();
      throw error;
    });
    this.#unopened.answered(wanted);
    held.reconcile(held.storeClock.note(now, askedAtMs));
    for (const state of states) {
      // What was noted while the answer was on its way, a failure or a session, is newer than the answer.
      const seen = failedBefore.get(state.merchant);
      const { failure, ...rest } = state;
      if (failure === undefined) failures.clearSeen(state.merchant, seen);
      this.#take(failure?.at === seen?.at ? rest : state, askedAtMs);
    }
    const lost = states.filter(({ dueInMs, merchant }) => dueInMs === undefined && this.#isConfigured(merchant));
    if (lost.length > 0) await store.enrol(lost.map(({ merchant }) => merchant));
  }

  #take(state: StoredState, askedAtMs: number): void {
    const { merchant, stored, dueInMs, dueMark } = state;
    if (!this.#isConfigured(merchant)) return;
    this.#takeFailure(state);
    if (stored.kind === 'session') this.#adopt(stored.session, stored.ageMs, askedAtMs);
    if (state.condemned !== undefined) this.#context.earlyDeaths.note(merchant, state.condemned);
    if (state.reportedDead !== undefined) {
      this.#context.earlyDeaths.noteReported(merchant, state.reportedDead.generation, state.reportedDead.ageMs);
    }
    this.#context.reportedDeaths.see(merchant, state.reportedDead);
    // After the session: with a new one, the moment watched before belongs to another session.
    if (dueInMs !== undefined && dueMark !== undefined) {
      this.#context.watches.see(merchant, 'due', { mark: dueMark, inMs: dueInMs });
    }
    if (stored.kind === 'unopenable' && this.#unopened.found(merchant, stored.generation)) {
      this.#rechecks.planIn(merchant, MENDED_WITHIN_MS);
    }
    this.#offerIfNewer(state);
    if (this.#rechecked.delete(merchant)) this.#renewIfDue(merchant);
    // What is already planned is not put off by a look in between.
    if (!this.#rechecks.has(merchant)) this.#rechecks.planIn(merchant, this.#untilRecheckMs(merchant, dueInMs));
  }

  #takeFailure({ merchant, failure, dueInMs = 0 }: StoredState): void {
    const { failures, renewer } = this.#context;
    // Only news counts from now: the same back-off, seen again, has been running in the meantime.
    if (failure === undefined || !failures.note(merchant, failure)) return;
    this.#context.watches.forget(merchant, 'lease');
    if (dueInMs > 0) renewer.noteBackOff(merchant, Math.min(dueInMs, MAX_BACK_OFF_MS));
  }

  #adopt(session: Session, storeAgeMs: number, askedAtMs: number): void {
    const { held, clock } = this.#context;
    // The answer was on its way for at most as long as we waited for it.
    const ageMs = held.storeClock.ageMs(storeAgeMs, session.createdAt) + clock.monotonicMs() - askedAtMs;
    adopt(this.#context, { session, ageMs, source: 'store' });
  }

  /**
   * The store was emptied, restored from an older copy, or lost writes in a failover: a replica that holds something
   * newer tells it.
   */
  #offerIfNewer({ merchant, stored }: StoredState): void {
    const { held, unpublished, clock, renewer } = this.#context;
    const session = held.get(merchant);
    if (session === undefined || stored.kind === 'unchanged' || held.facts(merchant).leftMs <= 0) return;
    const storedGeneration =
      stored.kind === 'session' ? stored.session.generation : stored.kind === 'unopenable' ? stored.generation : 0;
    if (storedGeneration > session.generation) return;
    if (storedGeneration === session.generation && stored.kind !== 'unopenable') return;
    // A replica that is renewing holds what it is about to publish.
    if (renewer.isRenewing(merchant)) return;
    if (stored.kind === 'absent' && this.#complete) this.invalidate();
    const answeredAtMs = clock.monotonicMs() - held.ageMs(merchant);
    unpublished.keep({ session, answeredAtMs, known: session.generation });
  }

  #sessionAdopted(session: Session): void {
    const { merchant } = session;
    this.#context.failures.clear(merchant);
    this.#context.renewer.forgetHoldOff(merchant);
    this.#looks.delete(merchant);
    // What was watched belonged to the renewal that made this session, or to the session before it.
    this.#context.watches.forget(merchant);
    this.#planRecheck(merchant);
  }

  #hear(announcement: Announcement): void {
    if (announcement.kind === 'handover') return this.#context.handovers.hear(announcement);
    if (announcement.kind === 'gap') return this.#following.want(this.#context.merchants.ids());
    const { kind, merchant, generation } = announcement;
    if (!this.#isConfigured(merchant)) return;
    if (kind === 'unopenable') {
      if (this.#unopened.heard(merchant, generation)) this.#following.wantSoon(merchant);
    } else if (generation === undefined) this.#following.wantSoon(merchant);
    else if (generation > this.#context.held.generationOf(merchant)) this.#following.want([merchant]);
  }

  #recheck(merchants: readonly string[]): void {
    for (const merchant of merchants) {
      this.#rechecked.add(merchant);
      this.#unopened.looksAgain(merchant);
      this.#looks.set(merchant, (this.#looks.get(merchant) ?? 0) + 1);
    }
    this.#following.want(merchants);
  }

  /**
   * The store did not answer. A session past its margin is renewed even without it, if the merchant's settings allow
   * that.
   */
  #unread(merchants: readonly string[], error: unknown): void {
    this.reportBroken('refresh', error);
    for (const merchant of merchants) {
      if (!this.#isConfigured(merchant)) continue;
      if (!this.#rechecks.has(merchant)) this.#planRecheck(merchant);
      const isNeeded = this.#context.held.facts(merchant).freshMs <= 0;
      if (isNeeded && this.#context.renewer.mayGoAlone(merchant)) this.#renew(merchant, { isOverdue: true });
    }
  }

  /** The due list shows what is due; if it fails to, the replicas that hold the session know as well. */
  #renewIfDue(merchant: string): void {
    const { held } = this.#context;
    if (held.untilRenewalMs(merchant) > 0) return;
    this.#renew(merchant, { isOverdue: held.get(merchant) !== undefined && held.facts(merchant).freshMs <= 0 });
  }

  #renew(merchant: string, how: { readonly isOverdue: boolean; readonly ignoresBackOff?: boolean }): void {
    if (this.#closed || this.#context.renewer.retryInMs(merchant) !== undefined) return;
    const newerThan = this.#context.held.known(merchant);
    this.#context.renewer
      .renew({ merchant, trigger: 'schedule', newerThan, coolDownMs: 0, ...how })
      .then((result) => this.follow(merchant, result))
      .catch((error: unknown) => this.reportBroken('renewal', error));
  }

  #isConfigured(merchant: string): boolean {
    return this.#context.merchants.settingsOf(merchant) !== undefined;
  }

  #planRecheck(merchant: string): void {
    this.#rechecks.planIn(merchant, this.#untilRecheckMs(merchant));
  }

  /** Shortly after renewAt, then less and less often: whatever happens in between is announced. */
  #untilRecheckMs(merchant: string, dueInMs = Infinity): number {
    const { held, random } = this.#context;
    const session = held.get(merchant);
    const { leftMs, freshMs } = held.facts(merchant);
    const jitter = 1 - RECHECK_JITTER * random();
    // Without a session, the end of a lease or of a back-off is what counts: the due list comes first.
    if (session === undefined || leftMs <= 0) return Math.min(MAX_RECHECK_MS * jitter, dueInMs + MAX_FIRST_LAG_MS);
    const leadMs = msBetween(session.renewAt, session.expiresAt);
    const firstLagMs = Math.min(MAX_FIRST_LAG_MS, Math.max(MIN_RECHECK_MS, leadMs / 4));
    const looks = Math.min(10, this.#looks.get(merchant) ?? 0);
    const lagMs = Math.min(MAX_RECHECK_MS, firstLagMs * 2 ** looks);
    const untilRenewalMs = held.untilRenewalMs(merchant);
    if (untilRenewalMs > 0) return untilRenewalMs + firstLagMs;
    // The margin is a moment in its own right: from then on a renewal does not wait for the schedule.
    return freshMs > MIN_RECHECK_MS ? Math.min(lagMs * jitter, freshMs) : Math.max(MIN_RECHECK_MS, lagMs * jitter);
  }
}
