import { type Clock, Deadline, msBetween } from '#libs/clock';
import { CallAllowance } from './call-allowance.js';
import { GatewayFailure } from './gateway-failure.js';
import type { HeldSessions } from './held-sessions.js';
import type { SessionGateway } from './ports/session-gateway.js';
import type { SessionStore } from './ports/session-store.js';
import { type AttemptResult, leaseMsFor } from './renewal-attempt.js';
import { retryDelayMs } from './retry-policy.js';
import { admit } from './session-admission.js';
import type { SessionSettings } from './session-settings.js';
import type { Session } from './session.js';

/** Replicas reach a margin in the same millisecond: this keeps their generations apart, with the rest left to `offer`. */
const GENERATION_SPREAD_MS = 1_000;

export interface OutageParts {
  readonly owner: string;
  readonly held: HeldSessions;
  readonly store: SessionStore;
  readonly gateway: SessionGateway;
  readonly clock: Clock;
  readonly random: () => number;
}

/**
 * Sessions that this replica creates by itself while the store does not answer, so that payments go on. There is no
 * lease then: other replicas may do the same, each within its own count of the budget. What was created is kept to be
 * offered when the store is back, where the newest generation wins for all.
 */
export class OutageRenewals {
  readonly #parts: OutageParts;
  readonly #allowances = new Map<string, CallAllowance>();
  readonly #unpublished = new Map<string, Session>();

  constructor(parts: OutageParts) {
    this.#parts = parts;
  }

  /** Until this replica may create a session for the merchant; 0 when it may now. */
  waitMs(merchant: string, settings: SessionSettings): number {
    return this.#allowanceOf(merchant).waitMs(this.#parts.clock.monotonicMs(), settings.budget);
  }

  /** One create call without a lease. Its generation is above everything that this process has seen. */
  async create(merchant: string, settings: SessionSettings, shutdown: AbortSignal): Promise<AttemptResult> {
    const { clock, held, gateway, random } = this.#parts;
    const allowance = this.#allowanceOf(merchant);
    allowance.called(clock.monotonicMs());
    const deadline = new Deadline(clock, leaseMsFor(settings), shutdown);
    try {
      const issued = await gateway.createSession({ merchant, signal: deadline.signal });
      const generation = Math.max(held.seen(merchant) + 1, Math.floor(clock.now() + random() * GENERATION_SPREAD_MS));
      const session = admit(issued, { merchant, generation, settings, jitter: random() });
      allowance.succeeded();
      return { kind: 'unconfirmed', session, issued };
    } catch (error) {
      if (!(error instanceof GatewayFailure)) throw error;
      if (error.kind === 'aborted' && shutdown.aborted) return { kind: 'abandoned' };
      return this.#failed(allowance, error);
    } finally {
      deadline.close();
    }
  }

  /** Keeps a session that the store has not confirmed, from an outage or from a publication without an answer. */
  keep(session: Session): void {
    this.#unpublished.set(session.merchant, session);
  }

  /** The merchant is not configured any more. What it has called for stays counted, should it come back. */
  forget(merchant: string): void {
    this.#unpublished.delete(merchant);
  }

  /**
   * Offers what was kept, after an outage. A session that the store refuses is older than what others have published
   * or are about to: it is dropped, and theirs is read.
   * @throws BrokerError `store_unavailable`; what was not offered yet is offered next time
   */
  async offerAll(): Promise<void> {
    for (const session of [...this.#unpublished.values()]) {
      if (!this.#unpublished.has(session.merchant)) continue;
      await this.#offer(session);
      if (this.#unpublished.get(session.merchant) === session) this.#unpublished.delete(session.merchant);
    }
  }

  /** Another replica may have drawn the same generation for a session of its own: then ours goes one higher. */
  async #offer(session: Session): Promise<void> {
    await this.#publish(session);
    const [state] = await this.#parts.store.read([session.merchant]);
    if (state?.stored.kind !== 'session') return;
    const { generation, authToken } = state.stored.session;
    if (generation !== session.generation || authToken === session.authToken) return;
    const restamped = { ...session, generation: generation + 1 };
    await this.#publish(restamped);
    this.#parts.held.adopt(restamped, msBetween(session.createdAt, this.#parts.clock.now()));
  }

  async #publish(session: Session): Promise<void> {
    const { merchant, generation: fence } = session;
    const lease = { merchant, owner: this.#parts.owner, fence, remainingMs: 0, failures: 0 };
    const dueInMs = Math.max(0, msBetween(this.#parts.clock.now(), session.renewAt));
    await this.#parts.store.publish(lease, session, dueInMs);
  }

  #failed(allowance: CallAllowance, failure: GatewayFailure): AttemptResult {
    const outcome = failure.kind === 'aborted' ? 'timeout' : failure.kind;
    const attempt = { kind: outcome, failures: allowance.failures, retryAfterMs: failure.retryAfterMs };
    const retryInMs = retryDelayMs(attempt, this.#parts.random());
    allowance.failed(this.#parts.clock.monotonicMs(), retryInMs);
    return { kind: 'failed', failure, outcome, retryInMs };
  }

  #allowanceOf(merchant: string): CallAllowance {
    const known = this.#allowances.get(merchant) ?? new CallAllowance();
    this.#allowances.set(merchant, known);
    return known;
  }
}
