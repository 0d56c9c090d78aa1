import { plusMs } from '#libs/clock';
import { adopt } from './adoption.js';
import { budgetRefusal, isScheduled, type RenewalRequest, shareOf } from './claims.js';
import { budgetInForce } from './create-call-budget.js';
import { HoldOffs } from './hold-offs.js';
import { LeasedRenewals } from './leased-renewals.js';
import type { SpentBudget } from './merchant-condition.js';
import { OutageRenewals } from './outage-renewals.js';
import type { ClaimRefusal, CreateCallBudget, CreateCallWindow } from './ports/session-store.js';
import { type EndedAttempt, reportAttempt, reportTimes } from './renewal-report.js';
import type { RenewalResult } from './renewal-result.js';
import type { ReplicaContext } from './replica-context.js';
import type { SessionSettings } from './session-settings.js';
import { isStoreSilence, STORE_RETRY_MS } from './store-outage.js';
import type { UnpublishedSession } from './unpublished-sessions.js';

const stopping = { kind: 'stopping', retryInMs: STORE_RETRY_MS } as const;

export type RenewerContext = Omit<ReplicaContext, 'settlements' | 'recovery'>;

/**
 * The only way in which a session is created, whatever the trigger: claim, call, publish; or the call alone, while the
 * store stays silent. Wishes for the same merchant share one attempt in this process; the store's lease keeps two
 * processes from making an attempt at once.
 */
export class Renewer {
  readonly #context: RenewerContext;
  readonly #inFlight = new Map<string, Promise<RenewalResult>>();
  readonly #holdOffs: HoldOffs;
  readonly #leased: LeasedRenewals;
  readonly #shutdown = new AbortController();
  readonly #outage: OutageRenewals;
  #stopping = false;

  constructor(context: RenewerContext) {
    this.#context = context;
    this.#holdOffs = new HoldOffs(context.clock);
    this.#leased = new LeasedRenewals({ ...context, holdOffs: this.#holdOffs });
    this.#outage = new OutageRenewals(context);
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  isRenewing(merchant: string): boolean {
    return this.#inFlight.has(merchant);
  }

  /** Never rejects because the gateway or the store failed: those are results. */
  renew(request: RenewalRequest): Promise<RenewalResult> {
    const running = this.#inFlight.get(request.merchant);
    if (running !== undefined) {
      if (this.#cannotWait(request)) this.#context.handovers.hurry(request.merchant);
      return running;
    }
    const attempt = this.#run(request).finally(() => this.#inFlight.delete(request.merchant));
    this.#inFlight.set(request.merchant, attempt);
    return attempt;
  }

  /** When wishing for a session of the merchant can make sense again; undefined if nothing prevents it now. */
  retryInMs(merchant: string): number | undefined {
    const waits = [this.#holdOffs.find(merchant, 0)?.retryInMs, this.#budgetWait(merchant)?.retryInMs];
    const longestMs = Math.max(...waits.map((waitMs = 0) => waitMs));
    return longestMs > 0 ? longestMs : undefined;
  }

  /** Whether the merchant has no create call left for now, by the store's count or by this replica's. */
  isBudgetSpent(merchant: string): boolean {
    const { ceiling } = this.#context;
    const budget = this.#budgetOf(merchant);
    const isCeilingReached = budget !== undefined && ceiling.waitMs(merchant, budget) > 0;
    return isCeilingReached || this.#holdOffs.isBudgetSpent(merchant);
  }

  /**
   * Until when no call is left for anybody, the schedule included; undefined while there is one, as far as this replica
   * knows.
   */
  spentBudget(merchant: string): SpentBudget | undefined {
    const wait = this.#budgetWait(merchant);
    if (wait === undefined) return undefined;
    const { retryInMs, window } = wait;
    return { freeAt: plusMs(this.#context.clock.now(), retryInMs), ...(window === undefined ? {} : { window }) };
  }

  /** Another replica failed: asking again before its back-off is over is pointless here, too. */
  noteBackOff(merchant: string, retryInMs: number): void {
    this.#holdOffs.note(merchant, { kind: 'backing_off', retryInMs });
  }

  /** Something changed for the merchant: what was refused before may be granted now. */
  forgetHoldOff(merchant: string): void {
    this.#holdOffs.forget(merchant);
  }

  /** Whether this replica may create a session for the merchant by itself now, if the store stays silent. */
  mayGoAlone(merchant: string): boolean {
    const settings = this.#context.merchants.settingsOf(merchant);
    if (settings?.onStoreOutage !== 'authorize' || this.#stopping) return false;
    return this.#outage.mayCreate(merchant, settings);
  }

  /** This replica has reached the store: others that hold something newer are about to offer it. */
  letOthersOffer(): void {
    this.#context.grace.begin();
  }

  /** The number that keeps this replica's own generations apart, as just assigned by the store. */
  takeSeat(seat: number): void {
    this.#outage.takeSeat(seat);
    this.#leased.takeSeat(seat);
  }

  /**
   * Takes no new wishes, lets the attempts in flight end within the grace period, then aborts their calls and frees
   * their leases. Resolves when nothing is in flight any more.
   */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    this.#context.handovers.stop();
    const attempts = Promise.allSettled(this.#inFlight.values());
    const grace = this.#context.clock.schedule(graceMs, () => this.#shutdown.abort());
    await attempts;
    grace.cancel();
  }

  /** The longer of this replica's own count and what the store last said. */
  #budgetWait(
    merchant: string,
  ): { readonly retryInMs: number; readonly window?: CreateCallWindow | undefined } | undefined {
    const { ceiling } = this.#context;
    const budget = this.#budgetOf(merchant);
    if (budget === undefined) return undefined;
    const own = ceiling.wait(merchant, budget);
    const told = this.#holdOffs.spentBudget(merchant);
    if (told === undefined || (own?.retryInMs ?? 0) >= told.retryInMs) return own;
    return { retryInMs: told.retryInMs, window: windowOf(budget, told.perMs) };
  }

  #budgetOf(merchant: string): CreateCallBudget | undefined {
    const { merchants, held } = this.#context;
    const settings = merchants.settingsOf(merchant);
    return settings === undefined ? undefined : budgetInForce(settings, held.get(merchant));
  }

  async #run(wish: RenewalRequest): Promise<RenewalResult> {
    const { merchants, load } = this.#context;
    const holdOff = this.#findHoldOff(wish);
    if (holdOff !== undefined && !this.#isCutShort(wish, holdOff)) return holdOff;
    const request = holdOff === undefined ? wish : { ...wish, ignoresBackOff: true, cutsShort: holdOff };
    const gateway = merchants.gatewayIdOf(request.merchant);
    await load.enter(gateway);
    let result: RenewalResult | undefined;
    try {
      result = await this.#entered(request);
      return result;
    } finally {
      load.leave(gateway, result?.kind === 'failed' ? result.because : undefined);
    }
  }

  /** The wait for room at the gateway may have been long: everything is checked again. */
  async #entered(request: RenewalRequest): Promise<RenewalResult> {
    const { merchants, held, tracing } = this.#context;
    const { merchant, newerThan } = request;
    const settings = merchants.settingsOf(merchant);
    if (settings === undefined || this.#stopping) return stopping;
    if (held.generationOf(merchant) > newerThan) return { kind: 'already_newer' };
    const refusal = this.#findHoldOff(request) ?? this.#waitsForOthers(request) ?? this.#spent(request, settings);
    if (refusal !== undefined) return refusal;
    return tracing.renewal(request, async () => {
      const made = await this.#make(request, settings);
      return made.kind === 'ended' ? this.#conclude(request, settings, made) : made;
    });
  }

  async #make(request: RenewalRequest, settings: SessionSettings): Promise<EndedAttempt | RenewalResult> {
    const { merchant } = request;
    try {
      return await this.#leased.renew({
        request,
        settings,
        // It may have been the first answer after an outage: replicas that hold something newer than the store have not
        // been heard yet.
        mayNotCall: () => this.#waitsForOthers(request) ?? (this.#isUnwanted(merchant) ? stopping : undefined),
        onIssued: (made) => this.#adopt(made),
        shutdown: this.#shutdown.signal,
      });
    } catch (error) {
      if (!isStoreSilence(error)) throw error;
      return await this.#withoutStore(request, settings);
    }
  }

  #isUnwanted(merchant: string): boolean {
    return this.#stopping || this.#context.merchants.settingsOf(merchant) === undefined;
  }

  /** Somebody cannot use what is served: a renewal under way is then no longer a planned one. */
  #cannotWait({ merchant, trigger }: RenewalRequest): boolean {
    return trigger === 'rejection' || this.#context.held.facts(merchant).freshMs <= 0;
  }

  /** Serves what there is until its margin, then goes on alone if allowed. A rejected session is of no use either. */
  async #withoutStore(request: RenewalRequest, settings: SessionSettings): Promise<EndedAttempt | RenewalResult> {
    const { clock, held } = this.#context;
    const { merchant, trigger, coolDownMs } = request;
    if (trigger === 'operator') this.#outage.endBackOff(merchant);
    const isNeeded = trigger === 'rejection' || held.facts(merchant).freshMs <= 0;
    // Nobody can be asked when one was last created for a rejection: it cannot have been later than this session.
    const coolsForMs = trigger === 'rejection' ? coolDownMs - held.ageMs(merchant) : 0;
    if (coolsForMs > 0) return { kind: 'cooled_down', retryInMs: coolsForMs };
    if (!isNeeded || !this.mayGoAlone(merchant)) return { kind: 'store_down', retryInMs: STORE_RETRY_MS };
    const startedAtMs = clock.monotonicMs();
    const because = trigger === 'rejection' ? 'rejection' : 'need';
    const result = await this.#outage.create({ merchant, settings, because, shutdown: this.#shutdown.signal });
    const generation = result.kind === 'alone' ? result.made.session.generation : held.seen(merchant);
    return { kind: 'ended', generation, result, durationMs: clock.monotonicMs() - startedAtMs };
  }

  /** The schedule is not held off here: the store itself said that the merchant is due. */
  #findHoldOff(request: RenewalRequest): ClaimRefusal | undefined {
    if (isScheduled(request) || request.ignoresBackOff === true) return undefined;
    return this.#holdOffs.find(request.merchant, request.coolDownMs);
  }

  /**
   * A back-off spares a gateway in trouble, and payments wait for its end: while there is nothing live to use, it is cut
   * short within a share of the budget. What only a person can mend is not asked for sooner.
   */
  #isCutShort({ merchant, trigger }: RenewalRequest, { kind }: ClaimRefusal): boolean {
    const { held, failures } = this.#context;
    const failure = failures.get(merchant)?.kind;
    if (kind !== 'backing_off' || failure === 'refused' || failure === 'revoked') return false;
    const hasNothing = trigger === 'rejection' || (trigger === 'demand' && held.liveForMs(merchant) <= 0);
    return hasNothing && this.#holdOffs.cutShort(merchant);
  }

  /** This replica has just reached the store: what others hold may save a call, unless what is served may be dead. */
  #waitsForOthers({ trigger, settles }: RenewalRequest): ClaimRefusal | undefined {
    if (trigger === 'rejection' || settles === true) return undefined;
    const retryInMs = this.#context.grace.leftMs();
    return retryInMs > 0 ? { kind: 'held', retryInMs } : undefined;
  }

  /** This process's own ceiling, whatever the store's count says. */
  #spent(request: RenewalRequest, settings: SessionSettings): ClaimRefusal | undefined {
    const { merchant, trigger, cutsShort } = request;
    const { ceiling, held } = this.#context;
    const retryInMs = ceiling.waitMs(merchant, shareOf(request, budgetInForce(settings, held.get(merchant))));
    if (retryInMs <= 0) return undefined;
    if (cutsShort !== undefined) return cutsShort;
    this.#context.events.emit({ event: 'claim_refused', merchant, trigger, reason: budgetRefusal(request) });
    return { kind: 'budget_exhausted', retryInMs };
  }

  #conclude(request: RenewalRequest, settings: SessionSettings, ended: EndedAttempt): RenewalResult {
    const { events, merchants, unpublished, failures } = this.#context;
    const { merchant } = request;
    const { result } = ended;
    reportAttempt(events, request, ended);
    if (result.kind === 'alone') this.#adopt(result.made);
    // The merchant was removed from the configuration in the meantime: nobody may read the result.
    if (merchants.settingsOf(merchant) === undefined) return stopping;
    switch (result.kind) {
      case 'unconfirmed':
      case 'late':
      case 'alone':
        unpublished.keep(result.made);
        reportTimes(events, result.made.session, { settings, issued: result.issued });
        return { kind: 'renewed' };
      case 'published':
        reportTimes(events, result.session, { settings, issued: result.issued });
        return { kind: 'renewed' };
      case 'failed':
        this.#holdOffs.note(merchant, { kind: 'backing_off', retryInMs: result.retryInMs });
        failures.note(merchant, result.recorded);
        return { kind: 'failed', because: result.failure.kind, retryInMs: result.retryInMs };
      case 'fenced':
        return { kind: 'lost', retryInMs: 0 };
      case 'abandoned':
        return stopping;
    }
  }

  /** From the gateway's answer on, the session before this one is dead, whatever the store says about it. */
  #adopt({ session, answeredAtMs }: UnpublishedSession): void {
    const { merchants, clock } = this.#context;
    if (merchants.settingsOf(session.merchant) === undefined) return;
    this.#holdOffs.forget(session.merchant);
    adopt(this.#context, { session, ageMs: clock.monotonicMs() - answeredAtMs, source: 'own' });
  }
}

/** The window of this length; undefined if the budget was a different one when the store refused. */
function windowOf(budget: CreateCallBudget, perMs: number | undefined): CreateCallWindow | undefined {
  return budget.find((window) => window.perMs === perMs);
}
