import type { Clock } from '#libs/clock';
import { exceedsTolerance, measureSkew } from './clock-skew.js';
import type { HeldSessions } from './held-sessions.js';
import { HoldOffs } from './hold-offs.js';
import { OutageRenewals } from './outage-renewals.js';
import type { Merchants } from './ports/merchants.js';
import type { RenewalTrigger, SessionEvents } from './ports/session-events.js';
import type { SessionGateway } from './ports/session-gateway.js';
import type { Tracing } from './ports/tracing.js';
import type { ClaimRefusal, ClaimRequest, SessionStore } from './ports/session-store.js';
import { type AttemptResult, leaseMsFor, RenewalAttempt, type TimedLease } from './renewal-attempt.js';
import { reportAttempt } from './renewal-report.js';
import { leadTimeShortfall } from './session-moments.js';
import type { SessionSettings } from './session-settings.js';
import { haveSameServerKey, type IssuedSession, type Session } from './session.js';
import { isStoreOutage } from './store-outage.js';

export interface RenewalRequest {
  readonly merchant: string;
  readonly trigger: RenewalTrigger;
  /** Pointless when a generation above this one exists; 0 when any will do. */
  readonly newerThan: number;
  /** At least this long between two renewals that replace a living session early; 0 for none. */
  readonly coolDownMs: number;
}

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

export interface RenewerParts {
  readonly owner: string;
  readonly merchants: Merchants;
  readonly held: HeldSessions;
  readonly store: SessionStore;
  readonly gateway: SessionGateway;
  readonly events: SessionEvents;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly tracing: Tracing;
}

/** When to wish again while the store is silent. */
const STORE_RETRY_MS = 1_000;

/**
 * The one way in which a session comes to be, whatever the trigger: claim, call, publish. Wishes for the same merchant
 * share one attempt in this process; the store's lease sees to it that no two processes attempt at once.
 */
export class Renewer {
  readonly #parts: RenewerParts;
  readonly #inFlight = new Map<string, Promise<RenewalResult>>();
  readonly #holdOffs: HoldOffs;
  readonly #shutdown = new AbortController();
  readonly #outage: OutageRenewals;
  #stopping = false;

  constructor(parts: RenewerParts) {
    this.#parts = parts;
    this.#holdOffs = new HoldOffs(parts.clock);
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

  /** The merchant is not configured any more. */
  forget(merchant: string): void {
    this.#holdOffs.forget(merchant);
    this.#outage.forget(merchant);
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
    this.#shutdown.abort();
  }

  async #run(request: RenewalRequest): Promise<RenewalResult> {
    const settings = this.#parts.merchants.settingsOf(request.merchant);
    if (settings === undefined || this.#stopping) return { kind: 'stopping', retryInMs: STORE_RETRY_MS };
    const heldOff = this.#heldOff(request);
    if (heldOff !== undefined) return heldOff;
    return this.#parts.tracing.renewal(request, () => this.#claimAndAttempt(request, settings));
  }

  async #claimAndAttempt(request: RenewalRequest, settings: SessionSettings): Promise<RenewalResult> {
    try {
      const granted = await this.#claim(request, settings);
      return 'kind' in granted ? granted : await this.#attempt(request, settings, granted);
    } catch (error) {
      if (!isStoreOutage(error)) throw error;
      return await this.#withoutStore(request, settings);
    }
  }

  /** Serves what there is until its margin, then goes on alone if it may. A rejected session is of no use either. */
  async #withoutStore(request: RenewalRequest, settings: SessionSettings): Promise<RenewalResult> {
    const { merchant, trigger } = request;
    const isNeeded = trigger === 'rejection' || this.#parts.held.facts(merchant).freshMs <= 0;
    if (settings.onStoreOutage === 'fail' || !isNeeded) return { kind: 'store_down', retryInMs: STORE_RETRY_MS };
    const retryInMs = this.#outage.waitMs(merchant, settings);
    if (retryInMs > 0) return { kind: 'store_down', retryInMs };
    const startedAtMs = this.#parts.clock.monotonicMs();
    const result = await this.#outage.create(merchant, settings, this.#shutdown.signal);
    const generation = result.kind === 'unconfirmed' ? result.session.generation : this.#parts.held.seen(merchant);
    const durationMs = this.#parts.clock.monotonicMs() - startedAtMs;
    reportAttempt(this.#parts.events, request, { generation, result, durationMs });
    return this.#conclude(merchant, settings, result);
  }

  /** After an outage. @throws BrokerError `store_unavailable` */
  offerUnpublished(): Promise<void> {
    return this.#outage.offerAll();
  }

  /** The schedule is not held off here: the store itself said that the merchant is due. */
  #heldOff(request: RenewalRequest): ClaimRefusal | undefined {
    return isScheduled(request) ? undefined : this.#holdOffs.find(request.merchant, request.coolDownMs > 0);
  }

  async #claim(request: RenewalRequest, settings: SessionSettings): Promise<RenewalResult | TimedLease> {
    const askedAtMs = this.#parts.clock.monotonicMs();
    const wish = this.#claimRequest(request, settings);
    const answer = await this.#parts.tracing.step('claim', () => this.#parts.store.claim(wish));
    const { merchant, trigger } = request;
    if (answer.kind === 'claimed') {
      this.#parts.events.emit({ event: 'lease_granted', merchant, trigger });
      return { lease: answer.lease, endsAtMs: askedAtMs + answer.lease.remainingMs };
    }
    this.#parts.events.emit({ event: 'claim_refused', merchant, trigger, reason: answer.kind });
    if (answer.kind === 'already_newer') {
      this.#parts.held.noteSeen(merchant, answer.generation);
      return { kind: 'already_newer' };
    }
    this.#holdOffs.note(merchant, answer);
    return answer;
  }

  #claimRequest(request: RenewalRequest, settings: SessionSettings): ClaimRequest {
    return {
      merchant: request.merchant,
      owner: this.#parts.owner,
      leaseMs: leaseMsFor(settings),
      mode: isScheduled(request) ? 'when_due' : 'now',
      newerThan: request.newerThan,
      floor: this.#parts.held.seen(request.merchant),
      budget: settings.budget,
      coolDownMs: request.coolDownMs,
    };
  }

  async #attempt(request: RenewalRequest, settings: SessionSettings, lease: TimedLease): Promise<RenewalResult> {
    const attempt = new RenewalAttempt(this.#parts, settings, lease);
    if (!attempt.isLongEnough) {
      await this.#parts.store.release(lease.lease, { called: false, nextDueInMs: 0 });
      return { kind: 'lost', retryInMs: 0 };
    }
    const startedAtMs = this.#parts.clock.monotonicMs();
    const result = await attempt.run(this.#shutdown.signal);
    const durationMs = this.#parts.clock.monotonicMs() - startedAtMs;
    reportAttempt(this.#parts.events, request, { generation: lease.lease.fence, result, durationMs });
    return this.#conclude(request.merchant, settings, result);
  }

  #conclude(merchant: string, settings: SessionSettings, result: AttemptResult): RenewalResult {
    // Removed from the configuration meanwhile: nobody may read what came of it.
    if (this.#parts.merchants.settingsOf(merchant) === undefined)
      return { kind: 'stopping', retryInMs: STORE_RETRY_MS };
    switch (result.kind) {
      case 'unconfirmed':
        this.#outage.keep(result.session);
        this.#adopt(result.session, settings, result.issued);
        return { kind: 'renewed' };
      case 'published':
        this.#adopt(result.session, settings, result.issued);
        return { kind: 'renewed' };
      case 'failed':
        this.#holdOffs.note(merchant, { kind: 'backing_off', retryInMs: result.retryInMs });
        return { kind: 'failed', retryInMs: result.retryInMs };
      case 'late':
      case 'fenced':
        return { kind: 'lost', retryInMs: 0 };
      case 'abandoned':
        return { kind: 'stopping', retryInMs: STORE_RETRY_MS };
    }
  }

  #adopt(session: Session, settings: SessionSettings, issued: IssuedSession): void {
    const { held, events } = this.#parts;
    const { merchant, generation } = session;
    const before = held.get(merchant);
    const serverKeyChanged = before !== undefined && !haveSameServerKey(before, session);
    this.#holdOffs.forget(merchant);
    if (held.adopt(session, 0)) {
      events.emit({ event: 'session_adopted', merchant, generation, source: 'own', serverKeyChanged });
    }
    const skew = measureSkew(issued);
    if (skew !== undefined) {
      const beyondTolerance = exceedsTolerance(skew);
      events.emit({ event: 'clock_skew', merchant, skewMs: skew.likelyMs, beyondTolerance });
    }
    const shortfall = leadTimeShortfall(session, settings);
    if (shortfall !== undefined) events.emit({ event: 'lead_time_short', merchant, ...shortfall });
  }
}

function isScheduled(request: RenewalRequest): boolean {
  return request.trigger === 'startup' || request.trigger === 'schedule';
}
