import type { Clock, Instant } from '#libs/clock';
import type { UnavailableReason } from '#libs/errors';
import { CallCeiling } from './call-ceiling.js';
import { EarlyDeaths } from './early-deaths.js';
import { explain, type ExplainedFacts } from './explanation.js';
import { FailureBoard } from './failure-board.js';
import type { Cause, ToldFailure } from './failure-cause.js';
import { GatewayLoad } from './gateway-load.js';
import { GatewayRecovery } from './gateway-recovery.js';
import { Grace } from './grace.js';
import { Handovers } from './handovers.js';
import { HeldBackRenewals } from './held-back-renewals.js';
import { HeldSessions } from './held-sessions.js';
import { MomentWatches } from './moment-watches.js';
import { ObservedStore, type StoreTrouble } from './observed-store.js';
import type { Merchants } from './ports/merchants.js';
import type { SessionEvents } from './ports/session-events.js';
import type { SessionGateway } from './ports/session-gateway.js';
import type { OfferResult, SessionStore } from './ports/session-store.js';
import { type Tracing, untraced } from './ports/tracing.js';
import { QuietDuels } from './quiet-duels.js';
import { leaseMsFor } from './renewal-attempt.js';
import { explainRefusal, type RefusedWish } from './refusal-cause.js';
import { RenewalLoop } from './renewal-loop.js';
import { Renewer } from './renewer.js';
import { ReportedDeaths } from './reported-deaths.js';
import { SessionReader } from './session-reader.js';
import { SessionRejections } from './session-rejections.js';
import { ServiceWatch } from './service-watch.js';
import { SessionSync } from './session-sync.js';
import { Settlements } from './settlements.js';
import { type UnpublishedSession, UnpublishedSessions } from './unpublished-sessions.js';
import { type StrayKey, StrayKeys } from './stray-keys.js';
import { UnsharedSessions } from './unshared-sessions.js';
import { WantedRenewals } from './wanted-renewals.js';
import { whyUnavailable } from './why-unavailable.js';

export interface ReplicaPorts {
  /** Names this process in leases; no two processes share one, nor does one process after a restart. */
  readonly owner: string;
  readonly merchants: Merchants;
  readonly store: SessionStore;
  readonly gateway: SessionGateway;
  readonly events: SessionEvents;
  readonly clock: Clock;
  /** Where this replica keeps its sessions, if others need that before the replica exists. Default: its own place. */
  readonly held?: HeldSessions;
  /** In [0, 1). */
  readonly random: () => number;
  /** Default: no tracing. */
  readonly tracing?: Tracing;
  /**
   * After this replica has reached the store, at its start or after an outage, it claims nothing for this long: others
   * that hold something newer than the store are about to say so. Default: there are no others.
   */
  readonly graceMs?: number;
}

/** How the configured merchants differ from the previous ones, by id. */
export interface MerchantsChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /**
   * Configured before and after, but with another serviceCode, other keys, another gateway or other session settings.
   */
  readonly changed: readonly string[];
}

/** One replica of the broker, put together: what it holds, how it reads, and what keeps it fresh. */
export class SessionReplica {
  readonly held: HeldSessions;
  readonly failures = new FailureBoard();
  readonly reader: SessionReader;
  readonly rejections: SessionRejections;
  readonly wanted: WantedRenewals;
  readonly handovers: Handovers;
  readonly #merchants: Merchants;
  readonly #store: ObservedStore;
  readonly #renewer: Renewer;
  readonly #sync: SessionSync;
  readonly #loop: RenewalLoop;
  readonly #unpublished: UnpublishedSessions;
  readonly #unshared = new UnsharedSessions();
  readonly #settlements: Settlements;
  readonly #watches: MomentWatches;
  readonly #earlyDeaths: EarlyDeaths;
  readonly #reportedDeaths: ReportedDeaths;
  readonly #heldBack: HeldBackRenewals;
  readonly #quietDuels: QuietDuels;
  readonly #strayKeys: StrayKeys;
  readonly #clock: Clock;
  readonly #service: ServiceWatch;
  readonly #told = {
    why: (merchant: string): UnavailableReason => this.whyUnavailable(merchant),
    causeFor: (merchant: string): Cause | undefined => this.causeFor(merchant),
    whyRefused: (wish: RefusedWish): Cause | undefined => explainRefusal(wish, this.#facts(wish.merchant)),
    storeTrouble: (): StoreTrouble | undefined => this.#store.trouble,
  };

  constructor(given: ReplicaPorts) {
    this.#quietDuels = new QuietDuels(given);
    this.#heldBack = new HeldBackRenewals({ events: this.#quietDuels, causeFor: this.#told.causeFor });
    this.held = given.held ?? new HeldSessions(given.clock);
    const ports = { ...given, events: this.#heldBack, held: this.held, failures: this.failures };
    const { clock, events } = ports;
    this.#strayKeys = new StrayKeys(ports);
    [this.#clock, this.#merchants] = [clock, ports.merchants];
    const grace = new Grace(clock, ports.graceMs ?? 0);
    this.#store = new ObservedStore(ports.store, { events, clock, onReturn: () => grace.begin() });
    const store = this.#store;
    this.#settlements = new Settlements(this.held, clock);
    this.#watches = new MomentWatches(clock);
    this.#earlyDeaths = new EarlyDeaths({ ...ports, store, grace, watches: this.#watches });
    this.#reportedDeaths = new ReportedDeaths({ ...ports, store });
    this.#unpublished = new UnpublishedSessions({
      store,
      clock,
      onAnswer: (offered, answer) => this.#offered(offered, answer),
      onKept: () => this.#loop.wake(),
      onBroken: (error) => events.emit({ event: 'broken', activity: 'offer', error }),
    });
    this.handovers = new Handovers({ ...ports, store });
    const context = {
      ...ports,
      tracing: ports.tracing ?? untraced,
      store,
      silence: store.silence,
      unpublished: this.#unpublished,
      unshared: this.#unshared,
      settlements: this.#settlements,
      watches: this.#watches,
      earlyDeaths: this.#earlyDeaths,
      ceiling: new CallCeiling(clock),
      load: new GatewayLoad(),
      recovery: new GatewayRecovery(),
      handovers: this.handovers,
      grace,
    };
    this.#renewer = new Renewer(context);
    this.#sync = new SessionSync({ ...context, renewer: this.#renewer, reportedDeaths: this.#reportedDeaths });
    const reportedDeaths = this.#reportedDeaths;
    const running = { ...context, ...this.#told, renewer: this.#renewer, sync: this.#sync, reportedDeaths };
    this.#service = new ServiceWatch({ ...running, mayGoAlone: (merchant) => this.#renewer.mayGoAlone(merchant) });
    this.#loop = new RenewalLoop(running);
    this.reader = new SessionReader(running);
    this.rejections = new SessionRejections({ ...running, reader: this.reader });
    this.wanted = new WantedRenewals({ ...running, reader: this.reader });
  }

  /** To be called at a steady pace; see RenewalLoop. */
  tick(): Promise<void> {
    this.#earlyDeaths.review();
    this.#service.look();
    return this.#loop.tick();
  }

  /**
   * The store was found to refuse what replicas ask of it; until `resync` is called, this is the reason given for what
   * is not renewed.
   */
  storeRefuses(): void {
    this.#store.noteRefusal();
  }

  /** The store is back after an outage and may have lost what it knew: enrols and reads every merchant again. */
  resync(): Promise<void> {
    this.#store.noteWell();
    this.#sync.invalidate();
    this.#sync.retryNow();
    return this.#loop.tick();
  }

  /**
   * To be called when `Merchants` answers differently than before. What is removed is forgotten, what is new is
   * enrolled and read, and what was changed is tried at once unless it is well; no other merchant is affected. An
   * attempt under way for a removed merchant ends, and its session is not kept. Never rejects.
   */
  async merchantsChanged({ added, removed, changed }: MerchantsChange): Promise<void> {
    for (const merchant of removed) this.#forget(merchant);
    try {
      await this.#sync.add(added);
      for (const merchant of changed) this.#tryAnew(merchant);
      await this.#loop.tick();
    } catch (error) {
      this.#sync.reportBroken('change of merchants', error);
    }
  }

  isRenewing(merchant: string): boolean {
    return this.#renewer.isRenewing(merchant);
  }

  /** Whether somebody else creates sessions of the merchant, each of which ends ours. */
  hasForeignAuthorizer(merchant: string): boolean {
    return this.#earlyDeaths.areForeign(merchant);
  }

  /**
   * For a merchant that somebody else recently created sessions for, and may still: how long no consumer has reported a
   * dead session to this replica.
   */
  quietMs(merchant: string): number | undefined {
    return this.#quietDuels.quietMs(merchant);
  }

  /**
   * For a merchant that somebody else created sessions for, while nothing says that its newest session is dead: until
   * when the next report would mean that they go on.
   */
  watchedUntil(merchant: string): Instant | undefined {
    if (this.isReportedDead(merchant) || this.isLikelyDead(merchant)) return undefined;
    return this.#earlyDeaths.overAt(merchant);
  }

  /** Whether a consumer has reported the served session, to any replica, and nothing newer could be had. */
  isReportedDead(merchant: string): boolean {
    return this.#reportedDeaths.of(merchant) !== undefined;
  }

  /**
   * Whether the gateway has made a session that is of no use to us, or to this replica, and that has ended the served
   * one.
   */
  isLikelyDead(merchant: string): boolean {
    const { lostSession } = this.failures.get(merchant)?.trace ?? {};
    const isLost = lostSession === true || this.held.unopened(merchant) !== undefined;
    return isLost && this.#merchants.settingsOf(merchant)?.supersedes !== false;
  }

  /**
   * Whether only this replica has the session it serves, while the store takes none: it has most likely ended those of
   * the others.
   */
  isUnshared(merchant: string): boolean {
    const isKept = this.#store.trouble !== undefined && this.#unshared.has(merchant, this.held.generationOf(merchant));
    return isKept && this.#merchants.settingsOf(merchant)?.supersedes !== false;
  }

  /**
   * For a merchant whose session is well again: another replica has ended an earlier one with a key other than this
   * one's newest, and may do so again.
   */
  strayKey(merchant: string): StrayKey | undefined {
    return this.#strayKeys.of(merchant);
  }

  /**
   * Whether an attempt was due and finds no call left in the budget, or will find none before the session ends; or is
   * due and has to wait for the store.
   */
  isHeldBack(merchant: string): boolean {
    const spent = this.#renewer.spentBudget(merchant);
    if (spent === undefined) return this.#isHeldBackByStore(merchant);
    if (this.#heldBack.has(merchant)) return true;
    const session = this.held.get(merchant);
    // The call under way may be the one that spent it.
    return session !== undefined && spent.freeAt >= session.expiresAt && !this.isRenewing(merchant);
  }

  /** Whether no create call is left for now. */
  isBudgetSpent(merchant: string): boolean {
    return this.#renewer.isBudgetSpent(merchant);
  }

  /** When the next attempt can be made, if something holds it up; undefined if the schedule comes later anyway. */
  retryInMs(merchant: string): number | undefined {
    const keptForMs = this.wanted.keptForMs(merchant);
    if (keptForMs !== undefined) return keptForMs;
    const retryInMs = this.#renewer.retryInMs(merchant);
    const isWellUntilThen = this.failures.get(merchant) === undefined && this.held.facts(merchant).freshMs > 0;
    return isWellUntilThen && this.held.untilRenewalMs(merchant) > (retryInMs ?? 0) ? undefined : retryInMs;
  }

  /** Why no session of the merchant is served, or none newer than the rejected one. */
  whyUnavailable(merchant: string): UnavailableReason {
    const reported = this.#reportedDeaths.of(merchant);
    return whyUnavailable({
      isBudgetSpent: this.isBudgetSpent(merchant) || reported?.shareSpentUntil !== undefined,
      store: this.#store.trouble,
      failure: this.failures.get(merchant)?.kind,
      isRenewing: this.#renewer.isRenewing(merchant),
      serving: this.reader.verdict(merchant).reason,
    });
  }

  /** What is wrong with the merchant, and where to read on; undefined while all is well. */
  causeFor(merchant: string): Cause | undefined {
    return explain(this.#facts(merchant));
  }

  /** How the last call since the merchant's last session failed, whichever replica made it. */
  failureOf(merchant: string): ToldFailure | undefined {
    const failure = this.failures.get(merchant);
    const newestKey = this.#merchants.newestKeyOf?.(merchant);
    return failure === undefined || newestKey === undefined ? failure : { ...failure, newestKey };
  }

  #facts(merchant: string): ExplainedFacts {
    return {
      result: this.reader.verdict(merchant).result,
      failure: this.failureOf(merchant),
      isForeign: this.hasForeignAuthorizer(merchant),
      session: this.held.get(merchant),
      isLikelyDead: this.isLikelyDead(merchant),
      unopened: this.held.unopened(merchant),
      isUnshared: this.isUnshared(merchant),
      strayKey: this.strayKey(merchant),
      reported: this.#reportedDeaths.of(merchant),
      isReportedElsewhere: this.#reportedDeaths.isReportedElsewhere(merchant),
      spent: this.#renewer.spentBudget(merchant),
      isHeldBack: this.isHeldBack(merchant),
      watchedUntil: this.watchedUntil(merchant),
      createdUntil: this.#quietDuels.createdUntil(merchant),
      now: this.#clock.now(),
      why: () => this.whyUnavailable(merchant),
    };
  }

  /** Makes no more claims, ends what is in flight within the grace period, frees leases and timers. */
  async stop(graceMs: number): Promise<void> {
    this.wanted.close();
    await this.#loop.stop();
    await this.#renewer.stop(graceMs);
    this.#sync.close();
    this.#earlyDeaths.close();
    this.#service.close();
    await this.#offerLast();
  }

  #isHeldBackByStore(merchant: string): boolean {
    const isDue = this.held.untilRenewalMs(merchant) <= 0 && !this.isRenewing(merchant);
    if (!isDue || this.failures.get(merchant) !== undefined) return false;
    const { trouble } = this.#store;
    if (trouble !== 'silent') return trouble === 'refuses';
    return this.#merchants.settingsOf(merchant)?.onStoreOutage === 'fail';
  }

  #forget(merchant: string): void {
    this.#sync.forget(merchant);
    this.wanted.forget(merchant);
    this.handovers.forget(merchant);
    this.#renewer.forgetHoldOff(merchant);
    this.#unpublished.forget(merchant);
    this.#unshared.forget(merchant);
    this.#settlements.forget(merchant);
    this.#watches.forget(merchant);
    this.#earlyDeaths.forget(merchant);
    this.#reportedDeaths.forget(merchant);
    this.#heldBack.forget(merchant);
    this.#quietDuels.forget(merchant);
    this.#strayKeys.forget(merchant);
    this.#service.forget(merchant);
    this.held.drop(merchant);
    this.failures.clear(merchant);
  }

  /**
   * The back-off came from the previous configuration; what did not open may open now. A merchant that is well is left
   * alone.
   */
  #tryAnew(merchant: string): void {
    const hasFailed = this.failures.get(merchant) !== undefined;
    this.held.forgetUnusable(merchant);
    this.#strayKeys.forget(merchant);
    this.#renewer.forgetHoldOff(merchant);
    this.#sync.want([merchant]);
    if (!hasFailed && this.reader.verdict(merchant).result === 'fresh') return;
    this.#sync.renewNow(merchant);
  }

  #offered({ session: { merchant, generation }, answeredAtMs, known }: UnpublishedSession, answer: OfferResult): void {
    this.#unshared.settled({ merchant, generation });
    if (answer.kind === 'refused') this.#sync.want([merchant]);
    const settings = this.#merchants.settingsOf(merchant);
    if (!answer.isContested || settings === undefined || settings.supersedes === false) return;
    // A session that the store had lost was published before: whoever made a newer one knew of it.
    if (known >= generation) return;
    const newest = Math.max(answer.generation, this.held.generationOf(merchant));
    this.#settlements.note(merchant, { newest, answeredAtMs, maxCallMs: leaseMsFor(settings) });
    this.#loop.wake();
  }

  /** What the store has not confirmed dies with this process, unless the store takes it now. */
  async #offerLast(): Promise<void> {
    try {
      await this.#unpublished.offerAll();
    } catch (error) {
      this.#sync.reportBroken('last offer', error);
    }
  }
}
