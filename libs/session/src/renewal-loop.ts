import type { Clock, ScheduledTask } from '#libs/clock';
import type { HeldSessions } from './held-sessions.js';
import type { Merchants } from './ports/merchants.js';
import type { SessionStore } from './ports/session-store.js';
import { meansStoreIsAhead, type Renewer } from './renewer.js';
import type { SessionSync } from './session-sync.js';
import { isStoreOutage } from './store-outage.js';

/** Renewals that one replica has in flight at once: more due merchants wait, and other replicas may take them. */
const MOST_IN_FLIGHT = 64;
/** With a backlog, the store is asked for more once this many are left: a question for each would double its work. */
const ASK_AGAIN_AT = MOST_IN_FLIGHT / 2;
/** Due merchants that belong to another configuration may not hide ours; beyond this many, something else is wrong. */
const MOST_FOREIGN = 10_000;

export interface RenewalLoopParts {
  readonly merchants: Merchants;
  readonly held: HeldSessions;
  readonly renewer: Renewer;
  readonly sync: SessionSync;
  readonly store: SessionStore;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
}

/**
 * Renews what is due. Somebody calls `tick` at a steady pace; between two ticks it wakes itself exactly when the next
 * merchant falls due. A tick costs what is due, not what is configured.
 */
export class RenewalLoop {
  readonly #parts: RenewalLoopParts;
  #wakeUp: { readonly task: ScheduledTask; readonly atMs: number } | undefined;
  readonly #endSubscription: () => void;
  #running: Promise<void> | undefined;
  #again = false;
  #stopped = false;
  #foreign = 0;

  constructor(parts: RenewalLoopParts) {
    this.#parts = parts;
    // A session may fall due before the next tick looks: whoever takes one over knows when.
    this.#endSubscription = parts.held.onAnyNewer(({ merchant }) => {
      this.#wakeIn(Math.max(0, parts.held.untilRenewalMs(merchant)));
    });
  }

  /** Never rejects for an outage of the store: the next tick asks again. One tick runs at a time. */
  tick(): Promise<void> {
    if (this.#running !== undefined) {
      this.#again = true;
      return this.#running;
    }
    this.#running = this.#run().finally(() => (this.#running = undefined));
    return this.#running;
  }

  /** Claims nothing any more. Resolves when a tick under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#endSubscription();
    this.#cancelWakeUp();
    await this.#running;
  }

  async #run(): Promise<void> {
    do {
      this.#again = false;
      await this.#once();
    } while (this.#again && !this.#stopped);
  }

  async #once(): Promise<void> {
    if (this.#stopped) return;
    this.#cancelWakeUp();
    try {
      await this.#parts.renewer.offerUnpublished();
      if (!this.#parts.sync.isComplete) await this.#parts.sync.syncAll();
      await this.#renewDue();
    } catch (error) {
      if (isStoreOutage(error)) this.#parts.sync.invalidate();
      else this.#parts.sync.reportBroken('tick', error);
    }
  }

  async #renewDue(): Promise<void> {
    const room = MOST_IN_FLIGHT - this.#parts.renewer.inFlight;
    if (room <= 0) return;
    const limit = room + this.#foreign;
    const due = await this.#parts.store.due(limit);
    const ours = due.merchants.filter((merchant) => this.#parts.merchants.settingsOf(merchant) !== undefined);
    this.#foreign = Math.min(MOST_FOREIGN, due.merchants.length - ours.length);
    const isBacklog = due.merchants.length === limit;
    for (const merchant of this.#shuffled(ours)) this.#renew(merchant, isBacklog);
    if (due.nextDueInMs !== undefined) this.#wakeIn(due.nextDueInMs);
  }

  /** Replicas see the same list: each in an order of its own, they share the work instead of racing for each lease. */
  #shuffled(merchants: readonly string[]): readonly string[] {
    return merchants
      .map((merchant) => ({ merchant, rank: this.#parts.random() }))
      .sort((left, right) => left.rank - right.rank)
      .map(({ merchant }) => merchant);
  }

  #renew(merchant: string, isBacklog: boolean): void {
    const { renewer, held, sync } = this.#parts;
    const trigger = held.seen(merchant) === 0 ? 'startup' : 'schedule';
    renewer
      .renew({ merchant, trigger, newerThan: held.replaceable(merchant), coolDownMs: 0 })
      .then(async (result) => {
        if (meansStoreIsAhead(result)) await sync.refresh(merchant);
        if (isBacklog && renewer.inFlight <= ASK_AGAIN_AT) await this.tick();
      })
      .catch((error: unknown) => sync.reportBroken('renewal', error));
  }

  /** The earliest wish counts: a tick looks at everything that is due. */
  #wakeIn(delayMs: number): void {
    const atMs = this.#parts.clock.monotonicMs() + delayMs;
    if (this.#stopped || (this.#wakeUp !== undefined && this.#wakeUp.atMs <= atMs)) return;
    this.#cancelWakeUp();
    const task = this.#parts.clock.schedule(delayMs, () => {
      this.#wakeUp = undefined;
      void this.tick();
    });
    this.#wakeUp = { atMs, task };
  }

  #cancelWakeUp(): void {
    this.#wakeUp?.task.cancel();
    this.#wakeUp = undefined;
  }
}
