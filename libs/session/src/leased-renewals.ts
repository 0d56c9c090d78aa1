import { type ClaimAnswer, Claims, type ClaimsContext, type RenewalRequest } from './claims.js';
import type { Lease, LeaseRelease } from './ports/session-store.js';
import { type AttemptContext, RenewalAttempt, type TimedLease } from './renewal-attempt.js';
import type { EndedAttempt } from './renewal-report.js';
import type { RenewalResult } from './renewal-result.js';
import type { ReplicaContext } from './replica-context.js';
import type { SessionSettings } from './session-settings.js';
import { isStoreOutage, isStoreRefusal, STORE_RETRY_MS } from './store-outage.js';
import type { UnpublishedSession } from './unpublished-sessions.js';

type LeasedContext = ClaimsContext & AttemptContext & Pick<ReplicaContext, 'earlyDeaths' | 'handovers'>;

interface LeasedWish {
  readonly request: RenewalRequest;
  readonly settings: SessionSettings;
  /** Asked once the claim has been granted: a reason not to make the call after all. */
  readonly mayNotCall: () => RenewalResult | undefined;
  readonly onIssued: (made: UnpublishedSession) => void;
  readonly shutdown: AbortSignal;
}

/** Renewals as they usually are: the store grants a lease, so that no two processes call for one merchant at once. */
export class LeasedRenewals {
  readonly #context: LeasedContext;
  readonly #claims: Claims;

  constructor(context: LeasedContext) {
    this.#context = context;
    this.#claims = new Claims(context);
  }

  /** The number that keeps this replica's generations apart. */
  takeSeat(seat: number): void {
    this.#claims.takeSeat(seat);
  }

  /**
   * @returns what became of the attempt, or why there was none
   * @throws BrokerError `store_unavailable` when the claim was not answered; it may have been granted
   */
  async renew(wish: LeasedWish): Promise<EndedAttempt | RenewalResult> {
    const { request, settings } = wish;
    const answer = await this.#claim(request, settings);
    if (answer.kind !== 'claimed') return answer;
    // An earlier call may be carried out after this one: nobody knows what became of one that failed.
    const isDoubtful = request.settles === true || answer.lease.lease.failures > 0;
    const before = this.#context.earlyDeaths.beforeNext(request.merchant, isDoubtful);
    const { lease } = answer.lease;
    let giveUp = (): Promise<void> => Promise.resolve();
    const onGivenUp = (): Promise<void> => giveUp();
    const attempt = new RenewalAttempt(this.#context, { ...wish, before, lease: answer.lease, onGivenUp });
    const mayNotCall = (): RenewalResult | undefined => this.#mayNotCall(wish, attempt, lease);
    let refusal = mayNotCall();
    if (refusal === undefined) {
      giveUp = await this.#context.handovers.lead({ request, settings, lease, spareMs: attempt.spareMs });
      // The consumers' running calls may have taken a while: everything is checked again.
      refusal = mayNotCall();
    }
    if (refusal === undefined) return await this.#attempt(attempt, answer.lease, wish.shutdown);
    await Promise.all([
      giveUp(),
      this.#giveBack(answer.lease, { called: false, nextDueInMs: this.#dueAfter(refusal, lease) }),
    ]);
    return refusal;
  }

  #mayNotCall(wish: LeasedWish, attempt: RenewalAttempt, { merchant, fence }: Lease): RenewalResult | undefined {
    // One was made alone in the meantime and taken by the store: the result of this lease would be refused.
    if (this.#context.held.generationOf(merchant) > fence) return { kind: 'already_newer' };
    return wish.mayNotCall() ?? (attempt.isLongEnough ? undefined : { kind: 'lost', retryInMs: 0 });
  }

  #dueAfter(refusal: RenewalResult, { merchant }: Lease): number {
    if (refusal.kind === 'already_newer') return Math.max(0, this.#context.held.untilRenewalMs(merchant));
    return refusal.kind === 'held' ? refusal.retryInMs : 0;
  }

  async #claim(request: RenewalRequest, settings: SessionSettings): Promise<ClaimAnswer | RenewalResult> {
    try {
      return await this.#claims.claim(request, settings);
    } catch (error) {
      if (!isStoreRefusal(error)) throw error;
      return { kind: 'store_down', retryInMs: STORE_RETRY_MS };
    }
  }

  async #attempt(attempt: RenewalAttempt, { lease }: TimedLease, shutdown: AbortSignal): Promise<EndedAttempt> {
    const { clock } = this.#context;
    const startedAtMs = clock.monotonicMs();
    const result = await attempt.run(shutdown);
    return { kind: 'ended', generation: lease.fence, result, durationMs: clock.monotonicMs() - startedAtMs };
  }

  /** An unanswered release costs the rest of the lease, which then ends by itself. */
  async #giveBack({ lease }: TimedLease, release: LeaseRelease): Promise<void> {
    try {
      await this.#context.store.release(lease, release);
    } catch (error) {
      if (!isStoreOutage(error)) throw error;
    }
  }
}
