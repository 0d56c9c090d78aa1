import type { Clock } from '#libs/clock';
import { Handover, type HandoverTerms, type LiveHandover } from './handover.js';
import type { HeldSessions } from './held-sessions.js';
import type { Merchants } from './ports/merchants.js';
import type { SessionEvents } from './ports/session-events.js';
import type { HandoverSignal } from './ports/session-store.js';

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

interface HandoversContext {
  readonly held: HeldSessions;
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
