import type { Clock } from '#libs/clock';
import { type Cause, isSameCause } from './cause.js';
import type { HeldSessions } from './held-sessions.js';
import { reasonOfTrouble, type StoreTrouble } from './merchant-condition.js';
import type { SessionEvents } from './ports/session-events.js';
import type { Session } from './session.js';

/** What happens to thousands at about the same time is reported in few events, and soon all the same. */
const BETWEEN_EVENTS_MS = 10_000;

interface ServiceWatchContext {
  readonly held: HeldSessions;
  readonly clock: Clock;
  readonly events: SessionEvents;
  readonly storeTrouble: () => StoreTrouble | undefined;
  /** Whether this replica renews without the store. */
  readonly mayGoAlone: (merchant: string) => boolean;
  readonly causeFor: (merchant: string) => Cause | undefined;
}

type Told = 'renewal_blocked' | 'service_ended' | 'service_resumed';

/**
 * Reports once per session that it is due and cannot be renewed because of the store; that it has ended with nothing
 * newer, whatever the cause; and that its merchant is served again. A look costs what is due, not what is held.
 */
export class ServiceWatch {
  readonly #context: ServiceWatchContext;
  /** When something may next have happened to a merchant, by the monotonic clock. */
  readonly #nextLooks = new Map<string, number>();
  readonly #blocked = new Set<string>();
  readonly #ended = new Set<string>();
  readonly #untold = {
    renewal_blocked: new Set<string>(),
    service_ended: new Set<string>(),
    service_resumed: new Set<string>(),
  };
  readonly #toldAtMs = new Map<Told, number>();
  readonly #endSubscription: () => void;

  constructor(context: ServiceWatchContext) {
    this.#context = context;
    this.#endSubscription = context.held.onAnyNewer((session) => this.#adopted(session));
  }

  /** To be called at a steady pace. */
  look(): void {
    const nowMs = this.#context.clock.monotonicMs();
    for (const [merchant, atMs] of this.#nextLooks) if (atMs <= nowMs) this.#examine(merchant, nowMs);
    this.#tell('renewal_blocked', (merchants) => this.#blockedBy(merchants));
    this.#tell('service_ended', (merchants) => this.#emit('service_ended', merchants, this.#sharedCause(merchants)));
    this.#tell('service_resumed', (merchants) => this.#emit('service_resumed', merchants, undefined));
  }

  forget(merchant: string): void {
    this.#nextLooks.delete(merchant);
    this.#blocked.delete(merchant);
    this.#ended.delete(merchant);
    for (const merchants of Object.values(this.#untold)) merchants.delete(merchant);
  }

  close(): void {
    this.#endSubscription();
  }

  #adopted({ merchant }: Session): void {
    const { held, clock } = this.#context;
    if (held.facts(merchant).leftMs <= 0) return;
    this.#nextLooks.set(merchant, clock.monotonicMs() + Math.max(0, held.untilRenewalMs(merchant)));
    this.#blocked.delete(merchant);
    this.#untold.renewal_blocked.delete(merchant);
    // If nobody was told of an end, nobody needs to be told that it is over.
    if (this.#ended.delete(merchant) && !this.#untold.service_ended.delete(merchant)) {
      this.#untold.service_resumed.add(merchant);
    }
  }

  #examine(merchant: string, nowMs: number): void {
    const { held } = this.#context;
    const { leftMs } = held.facts(merchant);
    if (leftMs <= 0) return this.#end(merchant);
    const untilRenewalMs = held.untilRenewalMs(merchant);
    if (untilRenewalMs <= 0 && this.#isBlocked(merchant)) {
      this.#blocked.add(merchant);
      this.#untold.renewal_blocked.add(merchant);
    }
    const waitMs = untilRenewalMs > 0 ? untilRenewalMs : this.#blocked.has(merchant) ? leftMs : 0;
    this.#nextLooks.set(merchant, nowMs + waitMs);
  }

  #isBlocked(merchant: string): boolean {
    const { storeTrouble, mayGoAlone } = this.#context;
    return storeTrouble() !== undefined && !mayGoAlone(merchant);
  }

  #end(merchant: string): void {
    this.#nextLooks.delete(merchant);
    this.#untold.renewal_blocked.delete(merchant);
    this.#untold.service_resumed.delete(merchant);
    this.#ended.add(merchant);
    this.#untold.service_ended.add(merchant);
  }

  /** The first at once, those after it together. */
  #tell(what: Told, emit: (merchants: readonly string[]) => void): void {
    const untold = this.#untold[what];
    const nowMs = this.#context.clock.monotonicMs();
    if (untold.size === 0 || nowMs - (this.#toldAtMs.get(what) ?? -Infinity) < BETWEEN_EVENTS_MS) return;
    const merchants = [...untold];
    untold.clear();
    this.#toldAtMs.set(what, nowMs);
    emit(merchants);
  }

  #blockedBy(merchants: readonly string[]): void {
    const trouble = this.#context.storeTrouble();
    // The store is back: what was to be reported is no longer true, and is looked at again.
    if (trouble === undefined) return this.#reconsider(merchants);
    this.#emit('renewal_blocked', merchants, { code: reasonOfTrouble[trouble], effect: 'not_renewed' });
  }

  #reconsider(merchants: readonly string[]): void {
    for (const merchant of merchants) {
      this.#blocked.delete(merchant);
      this.#nextLooks.set(merchant, this.#context.clock.monotonicMs());
    }
  }

  /** Undefined if they differ, or if nobody knows. */
  #sharedCause(merchants: readonly string[]): Cause | undefined {
    const [first, ...others] = merchants.map((merchant) => this.#context.causeFor(merchant));
    return others.every((cause) => isSameCause(cause, first)) ? first : undefined;
  }

  #emit(event: Told, merchants: readonly string[], cause: Cause | undefined): void {
    this.#context.events.emit({ event, merchants, ...(cause === undefined ? {} : { cause }) });
  }
}
