import { budgetInForce } from './create-call-budget.js';
import { floorOfSeat } from './generations.js';
import type { HoldOffs } from './hold-offs.js';
import type { RenewalTrigger } from './ports/session-events.js';
import type { ClaimRefusal, ClaimRequest, CreateCallBudget } from './ports/session-store.js';
import { leaseMsFor, type TimedLease } from './renewal-attempt.js';
import type { ReplicaContext } from './replica-context.js';
import type { SessionSettings } from './session-settings.js';

export interface RenewalRequest {
  readonly merchant: string;
  readonly trigger: RenewalTrigger;
  /** Pointless when a generation above this one exists; 0 when any will do. */
  readonly newerThan: number;
  /** At least this long between two renewals that replace a living session early; 0 for none. */
  readonly coolDownMs: number;
  /** The schedule waits for the due moment, unless this says that it has passed, or does not matter. */
  readonly isOverdue?: boolean;
  /** The reason for the back-off is gone. */
  readonly ignoresBackOff?: boolean;
  /** The back-off that somebody with nothing to use cuts short; it stands if the budget has no call for that. */
  readonly cutsShort?: ClaimRefusal;
  /**
   * Two sessions were made and nobody knows which of them is alive: nothing that other replicas tell the store would
   * show it.
   */
  readonly settles?: boolean;
}

export interface ClaimsContext extends Pick<
  ReplicaContext,
  'owner' | 'held' | 'watches' | 'store' | 'events' | 'clock' | 'tracing'
> {
  readonly holdOffs: HoldOffs;
}

export type ClaimAnswer =
  | { readonly kind: 'claimed'; readonly lease: TimedLease }
  /** Another replica has published in the meantime; the generation is only a hint, so read it. */
  | { readonly kind: 'already_newer' }
  | ClaimRefusal;

/** Early renewals may spend this share of each window of the budget; the rest is kept for the schedule. */
const SHARE_OF_WISHES = 0.75;
/** Of a window longer than an hour, attempts that do not wait for the end of a back-off leave the more: it is long. */
const SHARE_OF_THE_IMPATIENT = 0.4;
const HOUR_MS = 3_600_000;

function replacesLivingSession({ coolDownMs }: RenewalRequest): boolean {
  return coolDownMs > 0;
}

/** How a refusal by the budget is reported: what is spent for wishes need not be spent for the schedule. */
export function budgetRefusal(request: RenewalRequest): 'budget_exhausted' | 'share_spent' {
  return replacesLivingSession(request) ? 'share_spent' : 'budget_exhausted';
}

/** What this renewal may spend of the budget: the rest belongs to the schedule. */
export function shareOf(request: RenewalRequest, budget: CreateCallBudget): CreateCallBudget {
  if (request.cutsShort === undefined && !replacesLivingSession(request)) return budget;
  return budget.map(({ calls, perMs }) => {
    const share = request.cutsShort !== undefined && perMs > HOUR_MS ? SHARE_OF_THE_IMPATIENT : SHARE_OF_WISHES;
    return { calls: Math.max(1, Math.floor(calls * share)), perMs };
  });
}

export function isScheduled({ trigger }: Pick<RenewalRequest, 'trigger'>): boolean {
  return trigger === 'startup' || trigger === 'schedule';
}

/** Asks for leases, and remembers what their refusals say. */
export class Claims {
  readonly #context: ClaimsContext;
  #seat: number | undefined;

  constructor(context: ClaimsContext) {
    this.#context = context;
  }

  /** The number that keeps this replica's generations apart. */
  takeSeat(seat: number): void {
    this.#seat = seat;
  }

  /** @throws BrokerError `store_unavailable` or `store_refused` */
  async claim(request: RenewalRequest, settings: SessionSettings): Promise<ClaimAnswer> {
    const { clock, tracing, store, events, watches, holdOffs } = this.#context;
    const { merchant, trigger, coolDownMs } = request;
    const askedAtMs = clock.monotonicMs();
    const wish = this.#wish(request, settings);
    const answer = await tracing.step('claim', () => store.claim(wish));
    if (answer.kind !== 'held') watches.forget(merchant, 'lease');
    if (answer.kind === 'claimed') {
      events.emit({ event: 'lease_granted', merchant, trigger });
      return { kind: 'claimed', lease: { lease: answer.lease, endsAtMs: askedAtMs + answer.lease.remainingMs } };
    }
    if (answer.kind === 'budget_exhausted' && request.cutsShort !== undefined) return request.cutsShort;
    const reason = answer.kind === 'budget_exhausted' ? budgetRefusal(request) : answer.kind;
    if (answer.kind !== 'already_newer') {
      watches.seeRefusal(merchant, answer);
      holdOffs.note(merchant, answer, coolDownMs);
    }
    // Last, so that listeners can ask until when it is refused.
    events.emit({ event: 'claim_refused', merchant, trigger, reason });
    return answer.kind === 'already_newer' ? { kind: 'already_newer' } : answer;
  }

  /** A lease watched to its end belonged to a claimant that died: there is nothing else to wait for. */
  #wish(request: RenewalRequest, settings: SessionSettings): ClaimRequest {
    const { owner, held, watches } = this.#context;
    const { merchant, newerThan, coolDownMs } = request;
    const lease = watches.over(merchant, 'lease');
    const watched = lease ?? watches.over(merchant, 'due') ?? watches.over(merchant, 'cool_down');
    const waitsForDue = isScheduled(request) && request.isOverdue !== true && lease === undefined;
    return {
      merchant,
      owner,
      leaseMs: leaseMsFor(settings),
      mode: waitsForDue ? 'when_due' : 'when_wanted',
      newerThan,
      floor: this.#seat === undefined ? held.floor(merchant) : floorOfSeat(this.#seat, held.floor(merchant)),
      budget: shareOf(request, budgetInForce(settings, held.get(merchant))),
      coolDownMs,
      ...(watched === undefined ? {} : { watched }),
      ignoresBackOff: request.ignoresBackOff === true || lease !== undefined,
    };
  }
}
