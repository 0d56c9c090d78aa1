import type { Clock } from '#libs/clock';
import { type Cause, isSameCause } from './merchant-condition.js';
import type { SessionEvents } from './ports/session-events.js';

/** What happens to thousands at about the same time is reported in few events, and soon all the same. */
const BETWEEN_EVENTS_MS = 10_000;

/**
 * What is said once of each session, for many merchants together: that it has ended with nothing newer, and that its
 * merchant is served again. The first at once, those after it together.
 */
export class ServiceNews {
  readonly #clock: Clock;
  readonly #events: SessionEvents;
  readonly #causeFor: (merchant: string) => Cause | undefined;
  readonly #untold = { service_ended: new Set<string>(), service_resumed: new Set<string>() };
  readonly #toldAtMs = { service_ended: -Infinity, service_resumed: -Infinity };

  constructor(clock: Clock, events: SessionEvents, causeFor: (merchant: string) => Cause | undefined) {
    this.#clock = clock;
    this.#events = events;
    this.#causeFor = causeFor;
  }

  note(what: 'service_ended' | 'service_resumed', merchant: string): void {
    const opposite = what === 'service_ended' ? 'service_resumed' : 'service_ended';
    // If nobody was told of the one, nobody needs to be told that it is over.
    if (!this.#untold[opposite].delete(merchant)) this.#untold[what].add(merchant);
  }

  forget(merchant: string): void {
    for (const merchants of Object.values(this.#untold)) merchants.delete(merchant);
  }

  /** To be called at a steady pace. */
  tell(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const event of ['service_ended', 'service_resumed'] as const) {
      const merchants = [...this.#untold[event]];
      if (merchants.length === 0 || nowMs - this.#toldAtMs[event] < BETWEEN_EVENTS_MS) continue;
      this.#untold[event].clear();
      this.#toldAtMs[event] = nowMs;
      const cause = event === 'service_ended' ? this.#sharedCause(merchants) : undefined;
      this.#events.emit({ event, merchants, ...(cause === undefined ? {} : { cause }) });
    }
  }

  /** Undefined if they differ, or if nobody knows. */
  #sharedCause(merchants: readonly string[]): Cause | undefined {
    const [first, ...others] = merchants.map((merchant) => this.#causeFor(merchant));
    return others.every((cause) => isSameCause(cause, first)) ? first : undefined;
  }
}
