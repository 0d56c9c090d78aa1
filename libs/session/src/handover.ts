import type { Clock, ScheduledTask } from '#libs/clock';
import type { HandoverOutcome } from './ports/session-events.js';

/** Replicas that have not reported by then how many participants they have are not waited for. */
export const FIRST_MOMENT_MS = 100;

export interface HandoverTerms {
  readonly merchant: string;
  /** Of the session to come: the fence of the claim. */
  readonly generation: number;
  /** How long the claimant waits at most. */
  readonly limitMs: number;
  /** How long a consumer holds its calls at most, if it hears nothing more. */
  readonly holdForMs: number;
}

/**
 * The claimant's side of one hand-over: who takes part, who is ready, and when the wait is over.
 *
 *     begins --> every replica: holding n --> n participants: ready --> the call
 *                       (or the first moment)        (or the limit)
 */
export class Handover {
  readonly terms: HandoverTerms;
  readonly over: Promise<HandoverOutcome>;
  readonly #timers: readonly ScheduledTask[];
  readonly #ready = new Set<string>();
  #resolve: (outcome: HandoverOutcome) => void = () => undefined;
  #told: number | undefined;
  #heardOf = 0;
  #participants = 0;
  #isFirstMoment = true;

  constructor(clock: Clock, terms: HandoverTerms) {
    this.terms = terms;
    this.over = new Promise((resolve) => (this.#resolve = resolve));
    this.#timers = [
      clock.schedule(Math.min(FIRST_MOMENT_MS, terms.limitMs), () => this.#firstMomentOver()),
      clock.schedule(terms.limitMs, () => this.end('limit')),
    ];
  }

  get participants(): number {
    return this.#participants;
  }

  /** @param replicas undefined if nobody knows how many there are */
  told(replicas: number | undefined): void {
    this.#told = replicas;
    this.#look();
  }

  /** A replica has this many participants. */
  holding(participants: number): void {
    this.#heardOf += 1;
    this.#participants += participants;
    this.#look();
  }

  /** A participant has no running call any more. It may be heard from before its replica is. */
  ready(participant: string): void {
    this.#ready.add(participant);
    this.#look();
  }

  /** Idempotent: the first outcome stands. */
  end(outcome: HandoverOutcome): void {
    for (const timer of this.#timers) timer.cancel();
    this.#resolve(outcome);
  }

  #firstMomentOver(): void {
    this.#isFirstMoment = false;
    this.#look();
  }

  #look(): void {
    const haveAllSpoken = this.#told !== undefined && this.#heardOf >= this.#told;
    if ((this.#isFirstMoment && !haveAllSpoken) || this.#ready.size < this.#participants) return;
    this.end(this.#participants === 0 ? 'nobody' : 'ready');
  }
}

/** The last hand-over that a replica has heard of, for one merchant. */
export interface LiveHandover {
  readonly generation: number;
  readonly endsAtMs: number;
  answers: number;
}
