import type { Clock } from '#libs/clock';
import type { Entry, HeldSessions, LedHandover } from './held-sessions.js';
import type { Merchants } from './ports/replica-ports.js';
import type { HandoverOutcome, SessionEvents } from './ports/session-events.js';
import type { HandoverSignal } from './ports/session-store.js';

/** Replicas that have not reported by then how many participants they have are not waited for. */
const FIRST_MOMENT_MS = 100;
/** Answers that one replica passes on per hand-over. */
const MAX_ANSWERS = 4_096;

type Told<Step extends HandoverSignal['step']> = Omit<Extract<HandoverSignal, { readonly step: Step }>, 'step'>;

/** A renewal that is about to begin, as announced to those who hold calls. */
export type AnnouncedHandover = Told<'begins'>;
/** A participant that has no running call left. */
export type ReadyParticipant = Told<'ready'>;

/** Those at this replica who hold their calls while a session is replaced. Must not throw. */
export interface HandoverAudience {
  /** @returns how many of them take part, and will report that they are ready */
  hold(handover: AnnouncedHandover): number;
  /** One of them has answered, at whichever replica. */
  ready?(participant: Pick<ReadyParticipant, 'merchant' | 'participant'>): void;
  /** No session will come: held calls go on with the current one. */
  resume(handover: Pick<AnnouncedHandover, 'merchant' | 'generation'>): void;
}

interface HandoversContext {
  readonly held: HeldSessions;
  readonly events: SessionEvents;
  readonly merchants: Merchants;
  readonly clock: Clock;
  /**
   * Tells every replica, this one included. Whoever waits for it does so for a bounded time.
   * @returns how many were told, if the store can say; `unheard` in an outage
   */
  readonly tell: (signal: HandoverSignal) => Promise<number | undefined | 'unheard'>;
}

/**
 * Renewals that take their consumers along (ADR 20): a claimant announces that it is about to call, those who take part
 * hold new calls and let running ones end, and all of them go on with the session that comes. Nothing here decides
 * which session counts, and nothing waits longer than it was told to.
 *
 *     begins --> every replica: holding n --> n participants: ready --> the call
 *                       (or the first moment)        (or the limit)
 */
export class Handovers {
  readonly #context: HandoversContext;
  readonly #audiences = new Set<HandoverAudience>();

  constructor(context: HandoversContext) {
    this.#context = context;
  }

  /** @returns a function that detaches it; the audience owns that function */
  attach(audience: HandoverAudience): () => void {
    this.#audiences.add(audience);
    return () => void this.#audiences.delete(audience);
  }

  /** Asks all consumers to hold their calls, and resolves when they do or the time is up. */
  async lead({ limitMs, ...handover }: AnnouncedHandover & { readonly limitMs: number }): Promise<void> {
    const { clock, events, held, tell } = this.#context;
    const { merchant, generation } = handover;
    const { promise: over, resolve: end } = Promise.withResolvers<HandoverOutcome>();
    const led: LedHandover = { generation, ready: new Set(), participants: 0, toHear: Infinity, heard: 0, end };
    const entry = held.entryOf(merchant);
    entry.led = led;
    const startedAtMs = clock.monotonicMs();
    const first = clock.schedule(Math.min(FIRST_MOMENT_MS, limitMs), () => waitFor(led, 0));
    const limit = clock.schedule(limitMs, () => end('limit'));
    void tell({ step: 'begins', ...handover }).then((told) => (told === 'unheard' ? end(told) : waitFor(led, told)));
    const outcome = await over;
    first.cancel();
    limit.cancel();
    entry.led = undefined;
    const waitedMs = clock.monotonicMs() - startedAtMs;
    const { participants } = led;
    events.emit({ event: 'handover_awaited', merchant, generation, outcome, participants, waitedMs });
  }

  /** Passes on that a participant is ready. Whatever belongs to no current hand-over is dropped. */
  ready({ merchant, generation, participant }: ReadyParticipant): void {
    const live = this.#liveOf(this.#context.held.find(merchant));
    if (live?.generation !== generation || live.answers >= MAX_ANSWERS) return;
    live.answers += 1;
    void this.#context.tell({ step: 'ready', merchant, generation, participant });
  }

  /** What a replica says, including this one. A participant may be heard from before its replica is. */
  hear(signal: HandoverSignal): void {
    const { merchant, generation } = signal;
    const entry = this.#context.held.find(merchant);
    if (signal.step === 'begins') {
      void this.#context.tell({ step: 'holding', merchant, generation, participants: this.#hold(signal) });
    } else if (signal.step === 'ended') {
      if (entry?.live?.generation === generation) this.#resume(entry, { merchant, generation });
    } else {
      if (signal.step === 'ready') for (const audience of this.#audiences) audience.ready?.(signal);
      if (entry?.led?.generation === generation) count(entry.led, signal);
    }
  }

  /** Stops waiting for anybody. */
  stop(): void {
    for (const { led } of this.#context.held.entries) led?.end('cut');
  }

  /** A later one replaces an earlier one, whose claimant has died or was too late. */
  #hold({ merchant, generation, holdForMs }: AnnouncedHandover): number {
    const { merchants, held, clock } = this.#context;
    if (merchants.settingsOf(merchant) === undefined || held.generationOf(merchant) >= generation) return 0;
    const entry = held.entryOf(merchant);
    if ((this.#liveOf(entry)?.generation ?? 0) >= generation) return 0;
    entry.live = { generation, endsAtMs: clock.monotonicMs() + holdForMs, answers: 0 };
    let participants = 0;
    for (const audience of this.#audiences) participants += audience.hold({ merchant, generation, holdForMs });
    return participants;
  }

  #resume(entry: Entry, ended: Told<'ended'>): void {
    entry.live = undefined;
    for (const audience of this.#audiences) audience.resume(ended);
  }

  #liveOf(entry: Entry | undefined): Entry['live'] {
    const live = entry?.live;
    return live !== undefined && live.endsAtMs > this.#context.clock.monotonicMs() ? live : undefined;
  }
}

function count(led: LedHandover, signal: Extract<HandoverSignal, { readonly step: 'holding' | 'ready' }>): void {
  if (signal.step === 'ready') led.ready.add(signal.participant);
  else {
    led.heard += 1;
    led.participants += signal.participants;
  }
  endIfReady(led);
}

/** @param replicas that have to say how many participants they have; undefined if nobody knows */
function waitFor(led: LedHandover, replicas = Infinity): void {
  led.toHear = Math.min(led.toHear, replicas);
  endIfReady(led);
}

function endIfReady({ toHear, heard, ready, participants, end }: LedHandover): void {
  if (heard >= toHear && ready.size >= participants) end(participants === 0 ? 'nobody' : 'ready');
}
