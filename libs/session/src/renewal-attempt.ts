import { type Clock, Deadline, msBetween } from '#libs/clock';
import { timedSteadily } from './clock-skew.js';
import { type FailedCall, failedCall } from './failed-call.js';
import { GatewayFailure } from './gateway-failure.js';
import type { Lease, LeaseRelease } from './ports/session-store.js';
import type { ReplicaContext } from './replica-context.js';
import { isStoreOutage } from './store-outage.js';
import { admit, type SessionsBefore } from './session-admission.js';
import type { SessionSettings } from './session-settings.js';
import type { IssuedSession, Session } from './session.js';
import type { UnpublishedSession } from './unpublished-sessions.js';

/** The end of a lease is reserved for writing the result: the call must be over before less than this is left. */
export const PUBLISH_ALLOWANCE_MS = 2_000;
/** Between the end of the longest call and the end of the lease, publishing included; a hand-over comes on top. */
const LEASE_SLACK_MS = 5_000;

export function leaseMsFor(settings: SessionSettings): number {
  return settings.handoverMs + settings.gatewayTimeoutMs + LEASE_SLACK_MS;
}

/** Between two tries of one publication. */
const PUBLISH_RETRY_PAUSE_MS = 100;

/** A lease with the monotonic moment at which this process must consider it lost, whatever the store may say. */
export interface TimedLease {
  readonly lease: Lease;
  readonly endsAtMs: number;
}

/**
 * `unconfirmed` and `late`: the session exists, but the store has not confirmed it, or the lease ended during the call.
 * `fenced`: the store has granted or holds something newer. `alone`: it was made without a lease.
 */
export type AttemptResult =
  | { readonly kind: 'published' | 'fenced'; readonly session: Session; readonly issued: IssuedSession }
  | {
      readonly kind: 'unconfirmed' | 'late' | 'alone';
      readonly made: UnpublishedSession;
      readonly issued: IssuedSession;
    }
  | (FailedCall & { readonly kind: 'failed'; readonly failure: GatewayFailure; readonly callMs: number })
  | { readonly kind: 'abandoned' };

export type AttemptContext = Pick<
  ReplicaContext,
  'held' | 'failures' | 'ceiling' | 'store' | 'gateway' | 'clock' | 'random' | 'tracing'
>;

interface AttemptOptions {
  readonly lease: TimedLease;
  readonly settings: SessionSettings;
  readonly before?: SessionsBefore;
  /** Called with the session as soon as the gateway has answered: the one before it is dead from then on. */
  readonly onIssued: (made: UnpublishedSession) => void;
  /** Called as soon as it is known that no session will come: the one before it goes on. */
  readonly onGivenUp: () => Promise<void>;
}

/** One lease, at most one create-session call, and what became of it. */
export class RenewalAttempt {
  readonly #context: AttemptContext;
  readonly #settings: SessionSettings;
  readonly #granted: TimedLease;
  readonly #before: SessionsBefore;
  readonly #onIssued: (made: UnpublishedSession) => void;
  readonly #onGivenUp: () => Promise<void>;
  /** The highest generation known before the call was made. */
  readonly #known: number;

  constructor(context: AttemptContext, { lease, settings, before = {}, onIssued, onGivenUp }: AttemptOptions) {
    this.#context = context;
    this.#settings = settings;
    this.#granted = lease;
    this.#before = before;
    this.#onIssued = onIssued;
    this.#onGivenUp = onGivenUp;
    this.#known = context.held.known(lease.lease.merchant);
  }

  /** False for the rest of a lease that an earlier, timed-out claim left behind: it may end during the call. */
  get isLongEnough(): boolean {
    return this.spareMs >= 0;
  }

  /** What the lease has left beyond the longest call and the writing of its result. */
  get spareMs(): number {
    return this.#leftMs() - this.#settings.gatewayTimeoutMs - PUBLISH_ALLOWANCE_MS;
  }

  /** @param shutdown aborts the call; the lease is then freed, so that another replica can go on */
  async run(shutdown: AbortSignal): Promise<AttemptResult> {
    const { clock, gateway, held, ceiling, tracing } = this.#context;
    const deadline = new Deadline(clock, this.#leftMs() - PUBLISH_ALLOWANCE_MS, shutdown);
    held.noteCalled(this.#merchant, this.#granted.lease.fence);
    ceiling.called(this.#merchant);
    const askedAtMs = clock.monotonicMs();
    try {
      const answer = await gateway.createSession({ merchant: this.#merchant, signal: deadline.signal });
      const answeredAtMs = answeredAt(answer, clock, askedAtMs);
      const issued = timedSteadily(answer, answeredAtMs - askedAtMs);
      const made = { session: this.#admit(issued), answeredAtMs, known: this.#known };
      this.#onIssued(made);
      if (this.#leftMs() <= 0) return { kind: 'late', made, issued };
      return await tracing.step('publish', () => this.#publish(made, issued, shutdown));
    } catch (error) {
      if (!(error instanceof GatewayFailure)) throw error;
      if (error.kind === 'aborted' && shutdown.aborted) return await this.#abandon();
      return await this.#recordFailure(error, clock.monotonicMs() - askedAtMs);
    } finally {
      deadline.close();
    }
  }

  get #merchant(): string {
    return this.#granted.lease.merchant;
  }

  #leftMs(): number {
    return this.#granted.endsAtMs - this.#context.clock.monotonicMs();
  }

  #admit(issued: IssuedSession): Session {
    return admit(issued, {
      merchant: this.#merchant,
      generation: this.#granted.lease.fence,
      settings: this.#settings,
      jitter: this.#context.random(),
      before: this.#before,
    });
  }

  /**
   * Publishing is idempotent by fence, so an unanswered attempt is repeated while the lease lasts. If none is answered,
   * the session is real all the same and may have ended the one before: it is reported as unconfirmed, not dropped.
   * Once its grace is over, a shutdown does not wait for the store.
   */
  async #publish(made: UnpublishedSession, issued: IssuedSession, shutdown: AbortSignal): Promise<AttemptResult> {
    const { clock, store } = this.#context;
    const { session, answeredAtMs } = made;
    const untilRenewalMs = msBetween(session.createdAt, session.renewAt);
    for (;;) {
      try {
        const ageMs = clock.monotonicMs() - answeredAtMs;
        const publication = { session, ageMs, nextDueInMs: Math.max(0, untilRenewalMs - ageMs) };
        const answer = await store.publish(this.#granted.lease, publication);
        return { kind: answer, session, issued };
      } catch (error) {
        if (!isStoreOutage(error)) throw error;
        if (shutdown.aborted || this.#leftMs() <= PUBLISH_RETRY_PAUSE_MS) return { kind: 'unconfirmed', made, issued };
        await this.#pause(PUBLISH_RETRY_PAUSE_MS);
      }
    }
  }

  async #recordFailure(failure: GatewayFailure, callMs: number): Promise<AttemptResult> {
    const failed = failedCall(this.#context, { ...this.#granted.lease, settings: this.#settings }, failure);
    const { retryInMs: nextDueInMs, recorded } = failed;
    await this.#release({ called: failure.wasReached, nextDueInMs, failure: recorded });
    return { kind: 'failed', failure, callMs, ...failed };
  }

  async #abandon(): Promise<AttemptResult> {
    await this.#release({ called: true, nextDueInMs: 0 });
    return { kind: 'abandoned' };
  }

  /**
   * A store that does not answer (which ObservedStore reports) costs the rest of the lease, which then ends by itself.
   */
  async #release(release: LeaseRelease): Promise<void> {
    try {
      await Promise.all([this.#onGivenUp(), this.#context.store.release(this.#granted.lease, release)]);
    } catch (error) {
      if (!isStoreOutage(error)) throw error;
    }
  }

  #pause(durationMs: number): Promise<void> {
    return new Promise((resolve) => void this.#context.clock.schedule(durationMs, resolve));
  }
}

/**
 * When the answer was complete, by the monotonic clock: the time it took to open the answer counts as age. A wall clock
 * that was set in the meantime does not make it older than the request.
 */
export function answeredAt({ receivedAt }: IssuedSession, clock: Clock, askedAtMs: number): number {
  const nowMs = clock.monotonicMs();
  return Math.max(askedAtMs, nowMs - Math.max(0, msBetween(receivedAt, clock.now())));
}
