import { type Clock, Deadline, msBetween } from '#libs/clock';
import { GatewayFailure } from './gateway-failure.js';
import type { RenewalOutcome } from './ports/session-events.js';
import type { SessionGateway } from './ports/session-gateway.js';
import type { Lease, LeaseRelease, SessionStore } from './ports/session-store.js';
import type { Tracing } from './ports/tracing.js';
import { isStoreOutage } from './store-outage.js';
import { retryDelayMs } from './retry-policy.js';
import { admit } from './session-admission.js';
import type { SessionSettings } from './session-settings.js';
import type { IssuedSession, Session } from './session.js';

/** What is kept of a lease for writing the result: the call has to have ended before this much is left. */
export const PUBLISH_ALLOWANCE_MS = 2_000;
/** Between the end of the longest call and the end of the lease, publishing included. */
const LEASE_SLACK_MS = 5_000;

export function leaseMsFor(settings: SessionSettings): number {
  return settings.gatewayTimeoutMs + LEASE_SLACK_MS;
}

/** Between two tries of one publication. */
const PUBLISH_RETRY_PAUSE_MS = 100;

/** A lease with the monotonic moment at which this process must consider it lost, whatever the store may say. */
export interface TimedLease {
  readonly lease: Lease;
  readonly endsAtMs: number;
}

export type AttemptResult =
  | { readonly kind: 'published' | 'unconfirmed'; readonly session: Session; readonly issued: IssuedSession }
  | { readonly kind: 'late' | 'fenced' }
  | {
      readonly kind: 'failed';
      readonly failure: GatewayFailure;
      readonly outcome: RenewalOutcome;
      readonly retryInMs: number;
    }
  | { readonly kind: 'abandoned' };

export interface AttemptPorts {
  readonly store: SessionStore;
  readonly gateway: SessionGateway;
  readonly clock: Clock;
  readonly random: () => number;
  readonly tracing: Tracing;
}

/** One lease, at most one create-session call, and what became of it. */
export class RenewalAttempt {
  readonly #ports: AttemptPorts;
  readonly #settings: SessionSettings;
  readonly #held: TimedLease;

  constructor(ports: AttemptPorts, settings: SessionSettings, held: TimedLease) {
    this.#ports = ports;
    this.#settings = settings;
    this.#held = held;
  }

  /** False for the rest of a lease that an earlier, timed-out claim left behind: it may end during the call. */
  get isLongEnough(): boolean {
    return this.#leftMs() >= this.#settings.gatewayTimeoutMs + PUBLISH_ALLOWANCE_MS;
  }

  /**
   * @param shutdown aborts the call; the lease is then freed, so that another replica goes on
   */
  async run(shutdown: AbortSignal): Promise<AttemptResult> {
    const deadline = new Deadline(this.#ports.clock, this.#leftMs() - PUBLISH_ALLOWANCE_MS, shutdown);
    try {
      const issued = await this.#ports.gateway.createSession({ merchant: this.#merchant, signal: deadline.signal });
      const session = this.#admit(issued);
      if (this.#leftMs() <= 0) return { kind: 'late' };
      return await this.#ports.tracing.step('publish', () => this.#publish(session, issued, shutdown));
    } catch (error) {
      if (!(error instanceof GatewayFailure)) throw error;
      if (error.kind === 'aborted' && shutdown.aborted) return await this.#abandon();
      return await this.#recordFailure(error);
    } finally {
      deadline.close();
    }
  }

  get #merchant(): string {
    return this.#held.lease.merchant;
  }

  #leftMs(): number {
    return this.#held.endsAtMs - this.#ports.clock.monotonicMs();
  }

  #admit(issued: IssuedSession): Session {
    return admit(issued, {
      merchant: this.#merchant,
      generation: this.#held.lease.fence,
      settings: this.#settings,
      jitter: this.#ports.random(),
    });
  }

  /**
   * Publishing is idempotent by fence, so an unanswered one is repeated while the lease lasts. When none is answered
   * the session is real all the same, and may have ended the one before: it is reported as unconfirmed, not dropped.
   * A shutdown whose grace is over waits for no store.
   */
  async #publish(session: Session, issued: IssuedSession, shutdown: AbortSignal): Promise<AttemptResult> {
    const dueInMs = Math.max(0, msBetween(this.#ports.clock.now(), session.renewAt));
    for (;;) {
      try {
        const answer = await this.#ports.store.publish(this.#held.lease, session, dueInMs);
        return answer === 'published' ? { kind: 'published', session, issued } : { kind: 'fenced' };
      } catch (error) {
        if (!isStoreOutage(error)) throw error;
        if (shutdown.aborted || this.#leftMs() <= PUBLISH_RETRY_PAUSE_MS)
          return { kind: 'unconfirmed', session, issued };
        await this.#pause(PUBLISH_RETRY_PAUSE_MS);
      }
    }
  }

  async #recordFailure(failure: GatewayFailure): Promise<AttemptResult> {
    // An abort that shutdown did not ask for is the lease running out: to everyone else, a timeout.
    const kind = failure.kind === 'aborted' ? 'timeout' : failure.kind;
    const attempt = { kind, failures: this.#held.lease.failures, retryAfterMs: failure.retryAfterMs };
    const retryInMs = retryDelayMs(attempt, this.#ports.random());
    const at = this.#ports.clock.now();
    const msgCode = failure.msgCode === undefined ? {} : { msgCode: failure.msgCode };
    await this.#release({ called: true, nextDueInMs: retryInMs, failure: { kind, at, ...msgCode } });
    return { kind: 'failed', failure, outcome: kind, retryInMs };
  }

  async #abandon(): Promise<AttemptResult> {
    await this.#release({ called: true, nextDueInMs: 0 });
    return { kind: 'abandoned' };
  }

  /** A store that does not answer (which ObservedStore reports) costs the rest of the lease: it then ends by itself. */
  async #release(release: LeaseRelease): Promise<void> {
    try {
      await this.#ports.store.release(this.#held.lease, release);
    } catch (error) {
      if (!isStoreOutage(error)) throw error;
    }
  }

  #pause(durationMs: number): Promise<void> {
    return new Promise((resolve) => void this.#ports.clock.schedule(durationMs, resolve));
  }
}
