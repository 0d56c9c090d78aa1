import type { Clock, ScheduledTask } from '#libs/clock';
import type { Merchants } from './ports/replica-ports.js';
import type { HandoverOutcome, SessionEvents } from './ports/session-events.js';
import type { HandoverSignal } from './ports/session-store.js';

/** Replicas that have not reported by then how many participants they have are not waited for. */
const FIRST_MOMENT_MS = 100;

interface HandoverTerms {
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
class Handover {
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
interface LiveHandover {
  readonly generation: number;
  readonly endsAtMs: number;
  answers: number;
}

/** Answers that one replica passes on per hand-over. */
const MAX_ANSWERS = 4_096;

/** A renewal that is about to begin, as announced to those who hold calls. */
export interface AnnouncedHandover {
  readonly merchant: string;
  /** Of the session to come. */
  readonly generation: number;
  /** How long to hold new calls at most, if nothing more is heard. */
  readonly holdForMs: number;
}

/** Those at this replica who hold their calls while a session is replaced. Must not throw. */
export interface HandoverAudience {
  /** @returns how many of them take part, and will report that they are ready */
  hold(handover: AnnouncedHandover): number;
  /** One of them has answered, at whichever replica. */
  ready?(participant: Pick<ReadyParticipant, 'merchant' | 'participant'>): void;
  /** No session will come: held calls go on with the current one. */
  resume(handover: Pick<AnnouncedHandover, 'merchant' | 'generation'>): void;
}

/** A participant that has no running call left. */
export interface ReadyParticipant {
  readonly merchant: string;
  readonly generation: number;
  readonly participant: string;
}

/** What is kept of a merchant's hand-overs: the one that this replica leads, and the last one heard of. */
export interface HandoverSeat {
  led?: Handover | undefined;
  live?: LiveHandover | undefined;
}

interface HandoversContext {
  readonly held: {
    entryOf(merchant: string): HandoverSeat;
    find(merchant: string): HandoverSeat | undefined;
    generationOf(merchant: string): number;
  };
  readonly events: SessionEvents;
  readonly merchants: Merchants;
  readonly clock: Clock;
  /** Tells every replica, this one included. @returns how many were told, if the store can say; rejects for an outage */
  readonly announce: (signal: HandoverSignal) => Promise<number | undefined>;
  /** Nothing depends on its being heard: whoever waits for it does so for a bounded time. */
  readonly tell: (signal: HandoverSignal) => void;
}

/**
 * Renewals that take their consumers along (ADR 20): a claimant announces that it is about to call, those who take part
 * hold new calls and let running ones end, and all of them go on with the session that comes. Nothing here decides
 * which session counts, and nothing waits longer than it was told to.
 */
export class Handovers {
  readonly #context: HandoversContext;
  readonly #audiences = new Set<HandoverAudience>();
  /** Those that this replica leads. */
  readonly #led = new Set<Handover>();

  constructor(context: HandoversContext) {
    this.#context = context;
  }

  /** @returns a function that detaches it; the audience owns that function */
  attach(audience: HandoverAudience): () => void {
    this.#audiences.add(audience);
    return () => void this.#audiences.delete(audience);
  }

  /** Asks all consumers to hold their calls, and resolves when they do or the time is up. */
  async lead(terms: HandoverTerms): Promise<void> {
    const { clock, events, held, announce } = this.#context;
    const { merchant, generation, holdForMs } = terms;
    const entry = held.entryOf(merchant);
    const handover = new Handover(clock, terms);
    entry.led = handover;
    this.#led.add(handover);
    const startedAtMs = clock.monotonicMs();
    announce({ step: 'begins', merchant, generation, holdForMs }).then(
      (replicas) => handover.told(replicas),
      () => handover.end('unheard'),
    );
    const outcome = await handover.over;
    this.#led.delete(handover);
    entry.led = undefined;
    const { participants } = handover;
    const waitedMs = clock.monotonicMs() - startedAtMs;
    events.emit({ event: 'handover_awaited', merchant, generation, outcome, participants, waitedMs });
  }

  /** Passes on that a participant is ready. Whatever belongs to no current hand-over is dropped. */
  ready({ merchant, generation, participant }: ReadyParticipant): void {
    const live = this.#context.held.find(merchant)?.live;
    if (live?.generation !== generation || live.answers >= MAX_ANSWERS || this.#isOver(live)) return;
    live.answers += 1;
    this.#context.tell({ step: 'ready', merchant, generation, participant });
  }

  /** What a replica says, including this one. */
  hear(signal: HandoverSignal): void {
    const { merchant, generation } = signal;
    const led = this.#context.held.find(merchant)?.led;
    const ours = led?.terms.generation === generation ? led : undefined;
    switch (signal.step) {
      case 'begins':
        return this.#context.tell({ step: 'holding', merchant, generation, participants: this.#hold(signal) });
      case 'holding':
        return ours?.holding(signal.participants);
      case 'ready':
        for (const audience of this.#audiences) audience.ready?.(signal);
        return ours?.ready(signal.participant);
      case 'ended':
        return this.#resume(signal);
    }
  }

  /** Stops waiting for anybody. */
  stop(): void {
    for (const handover of this.#led) handover.end('cut');
  }

  /** A later one replaces an earlier one, whose claimant has died or was too late. */
  #hold({ merchant, generation, holdForMs }: AnnouncedHandover): number {
    const { merchants, held, clock } = this.#context;
    if (merchants.settingsOf(merchant) === undefined || held.generationOf(merchant) >= generation) return 0;
    const entry = held.entryOf(merchant);
    const { live } = entry;
    if (live !== undefined && !this.#isOver(live) && live.generation >= generation) return 0;
    entry.live = { generation, endsAtMs: clock.monotonicMs() + holdForMs, answers: 0 };
    let participants = 0;
    for (const audience of this.#audiences) participants += audience.hold({ merchant, generation, holdForMs });
    return participants;
  }

  #resume({ merchant, generation }: Pick<AnnouncedHandover, 'merchant' | 'generation'>): void {
    const entry = this.#context.held.find(merchant);
    if (entry?.live?.generation !== generation) return;
    entry.live = undefined;
    for (const audience of this.#audiences) audience.resume({ merchant, generation });
  }

  #isOver({ endsAtMs }: LiveHandover): boolean {
    return endsAtMs <= this.#context.clock.monotonicMs();
  }
}
