import { Deadline } from '#libs/clock';
import { AloneAllowance } from './alone-allowance.js';
import { timedSteadily } from './clock-skew.js';
import { budgetInForce } from './create-call-budget.js';
import { failedCall } from './failed-call.js';
import { GatewayFailure } from './gateway-failure.js';
import { generationAlone } from './generations.js';
import { answeredAt, type AttemptResult, leaseMsFor } from './renewal-attempt.js';
import type { ReplicaContext } from './replica-context.js';
import { admit } from './session-admission.js';
import type { SessionSettings } from './session-settings.js';

type OutageContext = Pick<ReplicaContext, 'held' | 'failures' | 'silence' | 'ceiling' | 'gateway' | 'clock' | 'random'>;

interface AloneWish {
  readonly merchant: string;
  readonly settings: SessionSettings;
  readonly because: 'rejection' | 'need';
  readonly shutdown: AbortSignal;
}

/**
 * Sessions that this replica creates by itself while the store stays silent, so that payments go on (ADR 8 and 16).
 * There is no lease then: other replicas may do the same, each within its own count of the budget.
 */
export class OutageRenewals {
  readonly #context: OutageContext;
  readonly #allowance: AloneAllowance;
  /** The store assigns it with its first answer: a replica that has never reached the store makes nothing. */
  #seat: number | undefined;

  constructor(context: OutageContext) {
    this.#context = context;
    this.#allowance = new AloneAllowance(context.clock);
  }

  takeSeat(seat: number): void {
    this.#seat = seat;
    this.#allowance.startOver();
  }

  /** What a person has fixed need not wait for the end of a back-off. */
  endBackOff(merchant: string): void {
    this.#allowance.endBackOff(merchant);
  }

  /** Whether this replica may create a session for the merchant by itself now. */
  mayCreate(merchant: string, settings: SessionSettings): boolean {
    const { silence, ceiling, held } = this.#context;
    if (this.#seat === undefined || !silence.isLasting) return false;
    return (
      this.#allowance.waitMs(merchant) <= 0 &&
      ceiling.waitMs(merchant, budgetInForce(settings, held.get(merchant))) <= 0
    );
  }

  /** One create call without a lease. Its generation is above everything that this process has seen. */
  async create({ merchant, settings, because, shutdown }: AloneWish): Promise<AttemptResult> {
    const { clock, held, gateway, ceiling, random } = this.#context;
    ceiling.called(merchant);
    this.#allowance.called(merchant, because);
    const known = held.known(merchant);
    const deadline = new Deadline(clock, leaseMsFor(settings), shutdown);
    const askedAtMs = clock.monotonicMs();
    try {
      const answer = await gateway.createSession({ merchant, signal: deadline.signal });
      const answeredAtMs = answeredAt(answer, clock, askedAtMs);
      const issued = timedSteadily(answer, answeredAtMs - askedAtMs);
      const above = Math.max(held.floor(merchant), held.known(merchant), clock.now());
      const generation = generationAlone(this.#seat ?? 0, above);
      const session = admit(issued, { merchant, generation, settings, jitter: random() });
      this.#allowance.succeeded(merchant);
      return { kind: 'alone', made: { session, answeredAtMs, known }, issued };
    } catch (error) {
      if (!(error instanceof GatewayFailure)) throw error;
      if (error.kind === 'aborted' && shutdown.aborted) return { kind: 'abandoned' };
      return { ...this.#failed({ merchant, settings }, error), callMs: clock.monotonicMs() - askedAtMs };
    } finally {
      deadline.close();
    }
  }

  #failed(
    { merchant, settings }: Pick<AloneWish, 'merchant' | 'settings'>,
    failure: GatewayFailure,
  ): Omit<Extract<AttemptResult, { kind: 'failed' }>, 'callMs'> {
    const failures = this.#allowance.failures(merchant);
    const failed = failedCall(this.#context, { merchant, failures, settings }, failure);
    const { retryInMs } = failed;
    this.#allowance.failed(merchant, { retryInMs, wasReached: failure.wasReached });
    return { kind: 'failed', failure, ...failed, retryInMs: this.#allowance.waitMs(merchant) };
  }
}
