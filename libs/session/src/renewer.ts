import type { Clock } from '#libs/clock';
import type { CallCeiling } from './call-ceiling.js';
import { budgetOf, type ClaimAnswer, Claims, isScheduled, type RenewalRequest } from './claims.js';
import { exceedsTolerance, measureSkew } from './clock-skew.js';
import type { FailureBoard } from './failure-board.js';
import type { GatewayLoad } from './gateway-load.js';
import type { Grace } from './grace.js';
import type { HeldSessions } from './held-sessions.js';
import { HoldOffs } from './hold-offs.js';
import type { MomentWatches } from './moment-watches.js';
import { OutageRenewals } from './outage-renewals.js';
import type { Merchants } from './ports/merchants.js';
import type { SessionEvents } from './ports/session-events.js';
import type { SessionGateway } from './ports/session-gateway.js';
import type { ClaimRefusal, SessionStore } from './ports/session-store.js';
import type { Tracing } from './ports/tracing.js';
import { type AttemptResult, RenewalAttempt, type TimedLease } from './renewal-attempt.js';
import { reportAttempt } from './renewal-report.js';
import { implausibleTimes } from './session-admission.js';
import { leadTimeShortfall } from './session-moments.js';
import type { SessionSettings } from './session-settings.js';
import { haveSameServerKey, type IssuedSession, type Session } from './session.js';
import { isStoreOutage, isStoreSilence, STORE_RETRY_MS } from './store-outage.js';
import type { StoreSilence } from './store-silence.js';
import type { UnpublishedSession, UnpublishedSessions } from './unpublished-sessions.js';

/** What became of a wish for a newer session. `retryInMs` is when wishing again can make sense. */
export type RenewalResult =
  | { readonly kind: 'renewed' }
  | { readonly kind: 'already_newer' }
  | { readonly kind: 'failed' | 'lost' | 'store_down' | 'stopping'; readonly retryInMs: number }
  | ClaimRefusal;

/** Whether somebody else has published meanwhile: then reading the store is all there is to do. */
export function meansStoreIsAhead(result: RenewalResult): boolean {
  return result.kind === 'already_newer' || result.kind === 'lost';
}

/** Whether the store has something of the merchant that has not been read: a session of others, or our own next due moment. */
export function hasNewsInStore(result: RenewalResult): boolean {
  return meansStoreIsAhead(result) || result.kind === 'renewed';
}

export interface RenewerParts {
  readonly owner: string;
  readonly merchants: Merchants;
  readonly held: HeldSessions;
  readonly store: SessionStore;
  readonly silence: StoreSilence;
  readonly unpublished: UnpublishedSessions;
  readonly watches: MomentWatches;
  readonly ceiling: CallCeiling;
  readonly load: GatewayLoad;
  readonly failures: FailureBoard;
  readonly grace: Grace;
  readonly gateway: SessionGateway;
  readonly events: SessionEvents;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly tracing: Tracing;
}

/**
 * The one way in which a session comes to be, whatever the trigger: claim, call, publish. Wishes for the same merchant
 * share one attempt in this process; the store's lease sees to it that no two processes attempt at once.
 */
export class Renewer {
  readonly #parts: RenewerParts;
  readonly #inFlight = new Map<string, Promise<RenewalResult>>();
  readonly #holdOffs: HoldOffs;
  readonly #claims: Claims;
  readonly #shutdown = new AbortController();
  readonly #outage: OutageRenewals;
  #stopping = false;

  constructor(parts: RenewerParts) {
    this.#parts = parts;
    this.#holdOffs = new HoldOffs(parts.clock);
    this.#claims = new Claims({ ...parts, holdOffs: this.#holdOffs });
    this.#outage = new OutageRenewals(parts);
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  isRenewing(merchant: string): boolean {
    return this.#inFlight.has(merchant);
  }

  /** Never rejects for a failure of gateway or store: those are results. */
  renew(request: RenewalRequest): Promise<RenewalResult> {
    const running = this.#inFlight.get(request.merchant);
    if (running !== undefined) return running;
    const attempt = this.#run(request).finally(() => this.#inFlight.delete(request.merchant));
    this.#inFlight.set(request.merchant, attempt);
    return attempt;
  }

  /** When wishing for a session of the merchant can make sense again; undefined when nothing speaks against it now. */
  retryInMs(merchant: string): number | undefined {
    return this.#holdOffs.find(merchant, false)?.retryInMs;
  }

  /** Another replica failed: asking again before its back-off is over is pointless here, too. */
  noteBackOff(merchant: string, retryInMs: number): void {
    this.#holdOffs.note(merchant, { kind: 'backing_off', retryInMs });
  }

  /** Something changed for the merchant: what was refused before may be granted now. */
  forgetHoldOff(merchant: string): void {
    this.#holdOffs.forget(merchant);
  }

  /** Whether this replica may create a session for the merchant by itself now, should the store stay silent. */
  mayGoAlone(merchant: string): boolean {
    const settings = this.#parts.merchants.settingsOf(merchant);
    if (settings?.onStoreOutage !== 'authorize' || this.#stopping) return false;
    return this.#outage.mayCreate(merchant, settings);
  }

  /** This replica has come to the store: others that hold newer than it are about to say so. */
  letOthersOffer(): void {
    this.#parts.grace.begin();
  }

  /** The number that keeps this replica's own generations apart, as the store has just given it. */
  takeSeat(seat: number): void {
    this.#outage.takeSeat(seat);
    this.#claims.takeSeat(seat);
  }

  /**
   * Takes no new wishes, lets the attempts in flight end within the grace period, then aborts their calls and frees
   * their leases. Resolves when nothing is in flight any more.
   */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    const attempts = Promise.allSettled(this.#inFlight.values());
    const grace = this.#parts.clock.schedule(graceMs, () => this.#shutdown.abort());
    await attempts;
    grace.cancel();
  }

  async #run(request: RenewalRequest): Promise<RenewalResult> {
    const { merchants, load } = this.#parts;
    const heldOff = this.#heldOff(request);
    if (heldOff !== undefined) return heldOff;
    const gateway = merchants.gatewayOf(request.merchant);
    await load.enter(gateway);
    let failed: AttemptResult | undefined;
    try {
      return await this.#entered(request, (result) => (failed = result));
    } finally {
      load.leave(gateway, failed?.kind === 'failed' ? failed.failure.kind : undefined);
    }
  }

  /** The wait for room at the gateway may have been long: everything is asked anew. */
  async #entered(request: RenewalRequest, onAttempt: (result: AttemptResult) => void): Promise<RenewalResult> {
    const { merchant, newerThan } = request;
    const settings = this.#parts.merchants.settingsOf(merchant);
    if (settings === undefined || this.#stopping) return { kind: 'stopping', retryInMs: STORE_RETRY_MS };
    if (this.#parts.held.generationOf(merchant) > newerThan) return { kind: 'already_newer' };
    const heldOff = this.#heldOff(request) ?? this.#waitsForOthers(request) ?? this.#spent(request, settings);
    if (heldOff !== undefined) return heldOff;
    return this.#parts.tracing.renewal(request, () => this.#claimAndAttempt(request, { settings, onAttempt }));
  }

  async #claimAndAttempt(
    request: RenewalRequest,
    context: { readonly settings: SessionSettings; readonly onAttempt: (result: AttemptResult) => void },
  ): Promise<RenewalResult> {
    const { settings, onAttempt } = context;
    let granted: ClaimAnswer;
    try {
      granted = await this.#claims.claim(request, settings);
    } catch (error) {
      if (!isStoreOutage(error)) throw error;
      if (!isStoreSilence(error)) return { kind: 'store_down', retryInMs: STORE_RETRY_MS };
      return await this.#withoutStore(request, context);
    }
    if (granted.kind !== 'claimed') return granted;
    // It was the first answer after an outage: whoever holds newer than the store has not yet been heard.
    const waits = this.#waitsForOthers(request);
    if (waits !== undefined) {
      await this.#giveBack(granted.lease, waits.retryInMs);
      return waits;
    }
    return await this.#attempt(request, granted.lease, { settings, onAttempt });
  }

  /** Serves what there is until its margin, then goes on alone if it may. A rejected session is of no use either. */
  async #withoutStore(
    request: RenewalRequest,
    { settings, onAttempt }: { settings: SessionSettings; onAttempt: (result: AttemptResult) => void },
  ): Promise<RenewalResult> {
    const { merchant, trigger } = request;
    const isNeeded = trigger === 'rejection' || this.#parts.held.facts(merchant).freshMs <= 0;
    if (!isNeeded || !this.mayGoAlone(merchant)) return { kind: 'store_down', retryInMs: STORE_RETRY_MS };
    const startedAtMs = this.#parts.clock.monotonicMs();
    const because = trigger === 'rejection' ? 'rejection' : 'need';
    const result = await this.#outage.create({ merchant, settings, because, shutdown: this.#shutdown.signal });
    onAttempt(result);
    const generation = result.kind === 'alone' ? result.made.session.generation : this.#parts.held.seen(merchant);
    const durationMs = this.#parts.clock.monotonicMs() - startedAtMs;
    reportAttempt(this.#parts.events, request, { generation, result, durationMs });
    if (result.kind === 'alone') this.#adopt(result.made);
    return this.#conclude(merchant, settings, result);
  }

  /** The schedule is not held off here: the store itself said that the merchant is due. */
  #heldOff(request: RenewalRequest): ClaimRefusal | undefined {
    if (isScheduled(request) || request.ignoresBackOff === true) return undefined;
    return this.#holdOffs.find(request.merchant, request.coolDownMs > 0);
  }

  /** This replica has just come to the store: what others hold may save a call, unless what is served may be dead. */
  #waitsForOthers({ trigger, settles }: RenewalRequest): ClaimRefusal | undefined {
    if (trigger === 'rejection' || settles === true) return undefined;
    const retryInMs = this.#parts.grace.leftMs();
    return retryInMs > 0 ? { kind: 'held', retryInMs } : undefined;
  }

  /** This process' own ceiling, whatever the store's count says. */
  #spent(request: RenewalRequest, settings: SessionSettings): ClaimRefusal | undefined {
    const { merchant, trigger } = request;
    const retryInMs = this.#parts.ceiling.waitMs(merchant, budgetOf(request, settings));
    if (retryInMs <= 0) return undefined;
    this.#parts.events.emit({ event: 'claim_refused', merchant, trigger, reason: 'budget_exhausted' });
    return { kind: 'budget_exhausted', retryInMs };
  }

  async #attempt(
    request: RenewalRequest,
    lease: TimedLease,
    context: { readonly settings: SessionSettings; readonly onAttempt: (result: AttemptResult) => void },
  ): Promise<RenewalResult> {
    const { settings, onAttempt } = context;
    const onIssued = (made: UnpublishedSession): void => this.#adopt(made);
    const attempt = new RenewalAttempt(this.#parts, { lease, settings, onIssued });
    // A shutdown that began meanwhile makes no call any more.
    if (this.#stopping || !attempt.isLongEnough) {
      await this.#giveBack(lease);
      return this.#stopping ? { kind: 'stopping', retryInMs: STORE_RETRY_MS } : { kind: 'lost', retryInMs: 0 };
    }
    const startedAtMs = this.#parts.clock.monotonicMs();
    const result = await attempt.run(this.#shutdown.signal);
    onAttempt(result);
    const durationMs = this.#parts.clock.monotonicMs() - startedAtMs;
    reportAttempt(this.#parts.events, request, { generation: lease.lease.fence, result, durationMs });
    return this.#conclude(request.merchant, settings, result);
  }

  /** An unanswered release costs the rest of the lease: it then ends by itself. */
  async #giveBack({ lease }: TimedLease, nextDueInMs = 0): Promise<void> {
    try {
      await this.#parts.store.release(lease, { called: false, nextDueInMs });
    } catch (error) {
      if (!isStoreOutage(error)) throw error;
    }
  }

  #conclude(merchant: string, settings: SessionSettings, result: AttemptResult): RenewalResult {
    // Removed from the configuration meanwhile: nobody may read what came of it.
    if (this.#parts.merchants.settingsOf(merchant) === undefined)
      return { kind: 'stopping', retryInMs: STORE_RETRY_MS };
    switch (result.kind) {
      case 'unconfirmed':
      case 'late':
      case 'alone':
        this.#parts.unpublished.keep(result.made);
        this.#assess(result.made.session, settings, result.issued);
        return { kind: 'renewed' };
      case 'published':
        this.#assess(result.session, settings, result.issued);
        return { kind: 'renewed' };
      case 'failed':
        this.#holdOffs.note(merchant, { kind: 'backing_off', retryInMs: result.retryInMs });
        this.#parts.failures.note(merchant, result.recorded);
        return { kind: 'failed', retryInMs: result.retryInMs };
      case 'fenced':
        return { kind: 'lost', retryInMs: 0 };
      case 'abandoned':
        return { kind: 'stopping', retryInMs: STORE_RETRY_MS };
    }
  }

  /** From the gateway's answer on: the session before this one is dead, whatever the store says of it. */
  #adopt({ session, answeredAtMs }: UnpublishedSession): void {
    const { held, events, merchants, clock } = this.#parts;
    const { merchant, generation } = session;
    if (merchants.settingsOf(merchant) === undefined) return;
    const before = held.get(merchant);
    const serverKeyChanged = before !== undefined && !haveSameServerKey(before, session);
    this.#holdOffs.forget(merchant);
    if (held.adopt(session, clock.monotonicMs() - answeredAtMs)) {
      events.emit({ event: 'session_adopted', merchant, generation, source: 'own', serverKeyChanged });
    }
  }

  /** Says what a person should know of a new session's times. */
  #assess(session: Session, settings: SessionSettings, issued: IssuedSession): void {
    const { events } = this.#parts;
    const { merchant } = session;
    const skew = measureSkew(issued);
    if (skew !== undefined) {
      const beyondTolerance = exceedsTolerance(skew);
      events.emit({ event: 'clock_skew', merchant, skewMs: skew.likelyMs, beyondTolerance });
    }
    for (const implausible of implausibleTimes(issued, settings)) {
      events.emit({ event: 'implausible_time', merchant, ...implausible });
    }
    const shortfall = leadTimeShortfall(session, settings);
    if (shortfall !== undefined) events.emit({ event: 'lead_time_short', merchant, ...shortfall });
  }
}
