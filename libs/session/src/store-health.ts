import type { Clock } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import type { StoreTrouble } from './merchant-condition.js';
import type { SessionEvents } from './ports/session-events.js';

/** A shorter failure is a lost reply: no replica has gone on without the store in the meantime. */
const MIN_OUTAGE_MS = 1_000;

/** The other operations that an operation's success shows to work again, in case nobody asks for those any more. */
const alsoShows: Readonly<Record<string, readonly string[]>> = {
  claim: ['release', 'report'],
  publish: ['release', 'report', 'announce'],
};

/** Not an operation of the store: the success of a single one does not show that the rest would succeed. */
const LOOKED_AT = 'looked at';

/** The failures of a store that callers can live with. Anything else is a bug. */
export function isStoreOutage(error: unknown): error is BrokerError {
  return error instanceof BrokerError && (error.code === 'store_unavailable' || error.code === 'store_refused');
}

export function outageIn(error: unknown): BrokerError {
  if (!isStoreOutage(error)) throw error;
  return error;
}

/**
 * Whether the store works: it is silent until any answer, and refuses until what it refused succeeds. Its failures are
 * reported here and nowhere else.
 */
export class StoreHealth {
  readonly #events: SessionEvents;
  readonly #clock: Clock;
  readonly #graceMs: number;
  /** What was refused and has not succeeded since. */
  readonly #refused = new Set<string>();
  #trouble: StoreTrouble | undefined;
  #failingSinceMs: number | undefined;
  /**
   * Until when other replicas tell the store what it has lost: after a restart, a failover or the loss of its data they
   * all come back to it within a second or so. Undefined until everything was read: who has not done that has not heard
   * anybody.
   */
  #graceEndsAtMs: number | undefined;
  /** Counts what made our knowledge of the store worthless: a reading that began before is not the last word. */
  #losses = 0;

  constructor(events: SessionEvents, clock: Clock, graceMs: number) {
    this.#events = events;
    this.#clock = clock;
    this.#graceMs = graceMs;
  }

  get trouble(): StoreTrouble | undefined {
    return this.#trouble;
  }

  /** In whole milliseconds: waiting for a fraction of one would mean waiting for ever. */
  get graceLeftMs(): number {
    if (this.#graceEndsAtMs === undefined) return this.#graceMs;
    return Math.max(0, Math.ceil(this.#graceEndsAtMs - this.#clock.monotonicMs()));
  }

  /** Whether everything was read since the store was last found to be away, or to have lost something. */
  get isRead(): boolean {
    return this.#graceEndsAtMs !== undefined;
  }

  /** The store may have lost what it knew: nobody has been heard until everything was read again. */
  forget(): void {
    this.#graceEndsAtMs = undefined;
    this.#losses += 1;
  }

  /** @param read reads everything; what was lost meanwhile has to be read once more */
  async readAll(read: () => Promise<void>): Promise<void> {
    const before = this.#losses;
    await read();
    if (this.#losses === before) this.#beginGrace();
  }

  #beginGrace(): void {
    this.#graceEndsAtMs = this.#clock.monotonicMs() + this.#graceMs;
  }

  /** A check found that the store refuses something that it is asked for now and then. */
  noteRefusal(): void {
    this.#refused.add(LOOKED_AT);
    this.#trouble ??= 'store_refuses';
  }

  /** A check found that the store does everything it is ever asked for. */
  noteWell(): void {
    this.#refused.clear();
    this.#tellIfWell();
  }

  async watch<Result>(operation: string, ask: () => Promise<Result>): Promise<Result> {
    const askedAtMs = this.#clock.monotonicMs();
    try {
      const result = await ask();
      this.#succeeded(operation);
      return result;
    } catch (error) {
      if (!isStoreOutage(error)) throw error;
      this.#failingSinceMs ??= askedAtMs;
      this.#trouble = error.code === 'store_unavailable' ? 'store_silent' : 'store_refuses';
      if (this.#trouble === 'store_refuses') this.#refused.add(operation);
      this.#events.emit({ event: 'store_failed', operation, error });
      throw error;
    }
  }

  #succeeded(operation: string): void {
    const sinceMs = this.#failingSinceMs;
    this.#failingSinceMs = undefined;
    const isBack = sinceMs !== undefined && this.#clock.monotonicMs() - sinceMs >= MIN_OUTAGE_MS;
    if (isBack && this.isRead) this.#beginGrace();
    for (const done of [operation, ...(alsoShows[operation] ?? [])]) this.#refused.delete(done);
    this.#tellIfWell();
  }

  #tellIfWell(): void {
    if (this.#trouble === undefined) return;
    this.#trouble = this.#refused.size > 0 ? 'store_refuses' : undefined;
    if (this.#trouble === undefined) this.#events.emit({ event: 'store_recovered' });
  }
}
