import type { Clock } from '#libs/clock';
import { type Cause, isSameCause, reasonOfTrouble, type StoreTrouble } from './merchant-condition.js';
import type { SessionEvents } from './ports/session-events.js';

/** What happens to thousands at about the same time is reported in few events, and soon all the same. */
const BETWEEN_EVENTS_MS = 10_000;

type News = 'renewal_blocked' | 'service_ended' | 'service_resumed';

interface ServiceNewsContext {
  readonly clock: Clock;
  readonly events: SessionEvents;
  readonly trouble: () => StoreTrouble | undefined;
  readonly causeFor: (merchant: string) => Cause | undefined;
}

/**
 * What is said once of each session, for many merchants together: that the store holds up its renewal; that it has
 * ended with nothing newer; that its merchant is served again. The first at once, those after it together.
 */
export class ServiceNews {
  readonly #context: ServiceNewsContext;
  readonly #untold = {
    renewal_blocked: new Set<string>(),
    service_ended: new Set<string>(),
    service_resumed: new Set<string>(),
  };
  readonly #toldAtMs: Partial<Record<News, number>> = {};

  constructor(context: ServiceNewsContext) {
    this.#context = context;
  }

  note(what: News, merchant: string): void {
    const { renewal_blocked: blocked, service_ended: ended, service_resumed: resumed } = this.#untold;
    if (what !== 'renewal_blocked') blocked.delete(merchant);
    if (what === 'service_ended') resumed.delete(merchant);
    // If nobody was told of an end, nobody needs to be told that it is over.
    if (what === 'service_resumed' && ended.delete(merchant)) return;
    this.#untold[what].add(merchant);
  }

  forget(merchant: string): void {
    for (const merchants of Object.values(this.#untold)) merchants.delete(merchant);
  }

  /** To be called at a steady pace. */
  tell(): void {
    const trouble = this.#context.trouble();
    // The store is back: what was to be reported is no longer true.
    if (trouble === undefined) this.#untold.renewal_blocked.clear();
    this.#tell('renewal_blocked', () => causeOf(trouble));
    this.#tell('service_ended', (merchants) => this.#sharedCause(merchants));
    this.#tell('service_resumed', () => undefined);
  }

  #tell(event: News, causeOfAll: (merchants: readonly string[]) => Cause | undefined): void {
    const { clock, events } = this.#context;
    const untold = this.#untold[event];
    const nowMs = clock.monotonicMs();
    if (untold.size === 0 || nowMs - (this.#toldAtMs[event] ?? -Infinity) < BETWEEN_EVENTS_MS) return;
    const merchants = [...untold];
    untold.clear();
    this.#toldAtMs[event] = nowMs;
    const cause = causeOfAll(merchants);
    events.emit({ event, merchants, ...(cause === undefined ? {} : { cause }) });
  }

  /** Undefined if they differ, or if nobody knows. */
  #sharedCause(merchants: readonly string[]): Cause | undefined {
    const [first, ...others] = merchants.map((merchant) => this.#context.causeFor(merchant));
    return others.every((cause) => isSameCause(cause, first)) ? first : undefined;
  }
}

function causeOf(trouble: StoreTrouble | undefined): Cause | undefined {
  return trouble === undefined ? undefined : { code: reasonOfTrouble[trouble], effect: 'not_renewed' };
}
