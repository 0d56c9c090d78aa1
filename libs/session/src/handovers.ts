import type { Clock } from '#libs/clock';
import { Handover } from './handover.js';
import type { HeldSessions } from './held-sessions.js';
import type { Merchants } from './ports/merchants.js';
import type { RenewalTrigger, SessionEvents } from './ports/session-events.js';
import type { HandoverSignal, Lease, SessionStore } from './ports/session-store.js';
import type { SessionSettings } from './session-settings.js';
import { isStoreOutage } from './store-outage.js';

/** Held calls wait for the create call as well, but not for as long as one that hangs. */
const MAX_CALL_HELD_MS = 2_000;
/** What fails again and again is not over in a moment: payments do not wait for each attempt. */
const MAX_FAILURES = 2;
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

interface HandoverWish {
  readonly request: { readonly trigger: RenewalTrigger; readonly settles?: boolean };
  readonly settings: SessionSettings;
  readonly lease: Lease;
  /** What the lease can spare. */
  readonly spareMs: number;
}

interface Live {
  readonly generation: number;
  readonly endsAtMs: number;
  answers: number;
}

interface HandoversContext {
  readonly store: Pick<SessionStore, 'announce'>;
  readonly held: HeldSessions;
  readonly events: SessionEvents;
  readonly merchants: Merchants;
  readonly clock: Clock;
}

/**
 * Renewals that take their consumers along (ADR 20): a claimant announces that it is about to call, those who take part
 * hold new calls and let running ones end, and all of them go on with the session that comes. Nothing here decides
 * which session counts, and nothing waits longer than it was told to.
 */
export class Handovers {
  readonly #context: HandoversContext;
  /** Those that this replica leads. */
  readonly #led = new Map<string, Handover>();
  /** The last one heard of, per merchant. */
  readonly #live = new Map<string, Live>();
  readonly #audiences = new Set<HandoverAudience>();

  constructor(context: HandoversContext) {
    this.#context = context;
  }

  /** @returns a function that detaches it; the audience owns that function */
  attach(audience: HandoverAudience): () => void {
    this.#audiences.add(audience);
    return () => void this.#audiences.delete(audience);
  }

  /**
   * Asks all consumers to hold their calls, if the renewal is a planned one, and waits until they do.
   * @returns a function that tells them that no session will come
   */
  async lead(wish: HandoverWish): Promise<() => Promise<void>> {
    const limitMs = this.#limitMs(wish);
    if (limitMs <= 0) return () => Promise.resolve();
    const { merchant, fence: generation } = wish.lease;
    const holdForMs = Math.ceil(limitMs + Math.min(wish.settings.gatewayTimeoutMs, MAX_CALL_HELD_MS));
    const handover = new Handover(this.#context.clock, { merchant, generation, limitMs, holdForMs });
    this.#led.set(merchant, handover);
    try {
      await this.#wait(handover);
    } finally {
      handover.end('cut');
      this.#led.delete(merchant);
    }
    return () => this.#tell({ step: 'ended', merchant, generation });
  }

  /** Somebody needs the new session now: nobody is waited for any longer. */
  hurry(merchant: string): void {
    this.#led.get(merchant)?.end('cut');
  }

  /** Passes on that a participant is ready. Whatever belongs to no current hand-over is dropped. */
  async ready({ merchant, generation, participant }: ReadyParticipant): Promise<void> {
    const live = this.#live.get(merchant);
    if (live?.generation !== generation || live.answers >= MAX_ANSWERS || this.#isOver(live)) return;
    live.answers += 1;
    await this.#tell({ step: 'ready', merchant, generation, participant });
  }

  /** What a replica says, including this one. */
  hear(signal: HandoverSignal): void {
    const { merchant, generation } = signal;
    const led = this.#led.get(merchant);
    const ours = led?.terms.generation === generation ? led : undefined;
    switch (signal.step) {
      case 'begins':
        return void this.#tell({ step: 'holding', merchant, generation, participants: this.#hold(signal) });
      case 'holding':
        return ours?.holding(signal.participants);
      case 'ready':
        for (const audience of this.#audiences) audience.ready?.(signal);
        return ours?.ready(signal.participant);
      case 'ended':
        return this.#resume(signal);
    }
  }

  /** The merchant is no longer configured. */
  forget(merchant: string): void {
    this.hurry(merchant);
    this.#live.delete(merchant);
  }

  /** Stops waiting for anybody. */
  stop(): void {
    for (const handover of this.#led.values()) handover.end('cut');
  }

  /** Zero if nobody is asked: an unplanned renewal does not wait, nor does that of a session past its margin. */
  #limitMs({ request, settings, lease, spareMs }: HandoverWish): number {
    const isPlanned = request.trigger === 'schedule' && request.settles !== true;
    if (!isPlanned || settings.supersedes === false || lease.failures > MAX_FAILURES) return 0;
    return Math.min(settings.handoverMs, spareMs, this.#context.held.facts(lease.merchant).freshMs);
  }

  async #wait(handover: Handover): Promise<void> {
    const { clock, events, store } = this.#context;
    const { merchant, generation, holdForMs } = handover.terms;
    const startedAtMs = clock.monotonicMs();
    const announced = store.announce({ kind: 'handover', step: 'begins', merchant, generation, holdForMs }).then(
      (replicas) => handover.told(replicas),
      (error: unknown) => {
        handover.end('unheard');
        this.#expectOutage(error);
      },
    );
    const outcome = await handover.over;
    if (outcome === 'unheard') await announced;
    const { participants } = handover;
    const waitedMs = clock.monotonicMs() - startedAtMs;
    events.emit({ event: 'handover_awaited', merchant, generation, outcome, participants, waitedMs });
  }

  /** A later one replaces an earlier one, whose claimant has died or was too late. */
  #hold({ merchant, generation, holdForMs }: AnnouncedHandover): number {
    const { merchants, held, clock } = this.#context;
    const known = this.#live.get(merchant);
    const isOlder = known !== undefined && !this.#isOver(known) && known.generation >= generation;
    if (isOlder || merchants.settingsOf(merchant) === undefined || held.generationOf(merchant) >= generation) return 0;
    this.#live.set(merchant, { generation, endsAtMs: clock.monotonicMs() + holdForMs, answers: 0 });
    let participants = 0;
    for (const audience of this.#audiences) participants += audience.hold({ merchant, generation, holdForMs });
    return participants;
  }

  #resume({ merchant, generation }: Pick<AnnouncedHandover, 'merchant' | 'generation'>): void {
    if (this.#live.get(merchant)?.generation !== generation) return;
    this.#live.delete(merchant);
    for (const audience of this.#audiences) audience.resume({ merchant, generation });
  }

  #isOver({ endsAtMs }: Live): boolean {
    return endsAtMs <= this.#context.clock.monotonicMs();
  }

  /** Nothing depends on its being heard: whoever waits for it does so for a bounded time. */
  async #tell(signal: HandoverSignal): Promise<void> {
    try {
      await this.#context.store.announce({ kind: 'handover', ...signal });
    } catch (error) {
      this.#expectOutage(error);
    }
  }

  /** The store's failures are reported where it is asked; anything else is a bug of ours. */
  #expectOutage(error: unknown): void {
    if (!isStoreOutage(error)) this.#context.events.emit({ event: 'broken', activity: 'hand-over', error });
  }
}
