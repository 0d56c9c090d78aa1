import { Alarm } from '#libs/clock';
import type { RenewalRequest } from './claims.js';
import type { RenewalResult } from './renewal-result.js';
import type { Renewer } from './renewer.js';
import type { ReplicaContext } from './replica-context.js';
import { Rounds } from './rounds.js';
import type { SessionSync } from './session-sync.js';
import { isStoreOutage } from './store-outage.js';

/** Renewals that one replica has in flight at once: further due merchants wait, and other replicas may take them. */
const MAX_IN_FLIGHT = 64;
/** With a backlog, the store is asked for more once this many are left: one query per renewal would double its work. */
const ASK_AGAIN_AT = MAX_IN_FLIGHT / 2;
/**
 * Listed merchants that are not to be renewed here must not hide those that are; beyond this many, something else is
 * wrong.
 */
const MAX_PASSED_OVER = 10_000;
/** What is listed but not taken is looked at again at this pace, however long it has been due. */
const PACE_MS = 100;
/** The store's list and our own count of a session's age do not agree to the millisecond. */
const EARLY_MS = 250;

export interface RenewalLoopContext extends Omit<
  ReplicaContext,
  'owner' | 'gateway' | 'events' | 'tracing' | 'silence' | 'ceiling' | 'earlyDeaths' | 'handovers'
> {
  readonly renewer: Renewer;
  readonly sync: SessionSync;
}

/**
 * Renews what is due. `tick` is called at a steady pace; between two ticks the loop wakes itself exactly when the next
 * merchant falls due. A tick costs what is due, not what is configured.
 */
export class RenewalLoop {
  readonly #context: RenewalLoopContext;
  readonly #rounds = new Rounds(() => this.#once());
  readonly #alarm: Alarm;
  readonly #endSubscriptions: readonly (() => void)[];
  #passedOver = 0;
  #hasBacklog = false;
  /** Merchants whose back-off is over because their gateway answers again. */
  readonly #released = new Set<string>();

  constructor(context: RenewalLoopContext) {
    this.#context = context;
    const { clock, held, failures, merchants, recovery } = context;
    this.#alarm = new Alarm(clock, () => void this.tick());
    this.#endSubscriptions = [
      held.onAnyNewer(({ merchant }) => this.#adopted(merchant)),
      failures.onAnyFailure((merchant, { kind }) => recovery.failed(merchants.gatewayIdOf(merchant), merchant, kind)),
    ];
  }

  /** Never rejects for an outage of the store: the next tick asks again. One tick runs at a time. */
  tick(): Promise<void> {
    return this.#rounds.run();
  }

  /** There is something to do before the next tick. */
  wake(): void {
    this.#alarm.in(0);
  }

  /** Makes no more claims. Resolves when a tick under way has ended. */
  async stop(): Promise<void> {
    for (const end of this.#endSubscriptions) end();
    this.#alarm.close();
    await this.#rounds.close();
  }

  async #once(): Promise<void> {
    this.#alarm.cancel();
    const { unpublished, sync } = this.#context;
    try {
      await unpublished.offerAll();
      if (!sync.isComplete) {
        await sync.syncAll();
        await unpublished.offerAll();
      }
      sync.lookAtOne();
      this.#settle();
      if (this.#isWaitingForOthers()) return;
      this.#renewReleased();
      await this.#renewDue();
    } catch (error) {
      if (isStoreOutage(error)) sync.invalidate();
      else sync.reportBroken('tick', error);
    }
  }

  #isWaitingForOthers(): boolean {
    const leftMs = this.#context.grace.leftMs();
    if (leftMs > 0) this.#alarm.in(leftMs);
    return leftMs > 0;
  }

  /** A session may fall due before the next tick; and a gateway that has made one session will make others. */
  #adopted(merchant: string): void {
    const { held, merchants, recovery } = this.#context;
    this.#alarm.in(Math.max(0, held.untilRenewalMs(merchant)));
    const released = recovery.succeeded(merchants.gatewayIdOf(merchant), merchant);
    if (released.length === 0) return;
    for (const other of released) this.#released.add(other);
    this.wake();
  }

  #settle(): void {
    for (const [merchant, newerThan] of this.#context.settlements.open()) {
      this.#renew({ merchant, newerThan, isOverdue: true, settles: true });
    }
  }

  #renewReleased(): void {
    const { held, merchants, load } = this.#context;
    for (const merchant of this.#shuffled([...this.#released])) {
      if (held.untilRenewalMs(merchant) > 0 || merchants.settingsOf(merchant) === undefined) {
        this.#released.delete(merchant);
      } else if (load.hasRoom(merchants.gatewayIdOf(merchant)) && this.#room() > 0) {
        this.#released.delete(merchant);
        this.#renew({ merchant, newerThan: held.known(merchant), isOverdue: true, ignoresBackOff: true });
      }
    }
  }

  #room(): number {
    return MAX_IN_FLIGHT - this.#context.renewer.inFlight;
  }

  /**
   * Whether merchants waiting for room at their gateway can hide one whose gateway has room. If they cannot, no more
   * are listed because of them: with a backlog, each query would list more than the one before, and the store checks
   * everything it lists.
   */
  #mayHideOthers(): boolean {
    const { merchants, load, held } = this.#context;
    const isHeldUpInVain = (merchant: string): boolean =>
      load.hasRoom(merchants.gatewayIdOf(merchant)) && held.untilRenewalMs(merchant) <= EARLY_MS;
    return this.#room() > 0 && merchants.ids().some(isHeldUpInVain);
  }

  async #renewDue(): Promise<void> {
    const { merchants, held, load, store } = this.#context;
    const room = this.#room();
    if (room <= 0) return;
    const due = await store.due(room + this.#passedOver);
    const ours = due.merchants.filter((merchant) => this.#isDueHere(merchant));
    let started = 0;
    for (const merchant of this.#shuffled(ours)) {
      if (this.#room() <= 0 || !load.hasRoom(merchants.gatewayIdOf(merchant))) continue;
      started += 1;
      this.#renew({ merchant, newerThan: held.known(merchant) });
    }
    this.#hasBacklog = started < due.merchants.length;
    const listedInVain = due.merchants.length - (this.#mayHideOthers() ? started : ours.length);
    this.#passedOver = Math.min(MAX_PASSED_OVER, listedInVain);
    if (due.nextDueInMs === undefined) return;
    const isListedInVain = due.merchants.length > 0 || due.nextDueInMs <= 0;
    this.#alarm.in(isListedInVain ? Math.max(PACE_MS, due.nextDueInMs) : due.nextDueInMs);
  }

  /**
   * The list is a hint: if a session is far from its renewAt by our own count, either its due moment has changed (an
   * early renewal has failed or was given up), or the store's clock was set. The moment itself shows which of the two
   * it is: one that we watch is over when we have watched it to its end.
   */
  #isDueHere(merchant: string): boolean {
    const { merchants, held, sync, watches } = this.#context;
    if (merchants.settingsOf(merchant) === undefined) return false;
    if (held.untilRenewalMs(merchant) <= EARLY_MS || watches.over(merchant, 'due') !== undefined) return true;
    sync.want([merchant]);
    return false;
  }

  /**
   * Replicas see the same list: with each in an order of its own, they share the work instead of racing for each lease.
   */
  #shuffled(merchants: readonly string[]): readonly string[] {
    return merchants
      .map((merchant) => ({ merchant, rank: this.#context.random() }))
      .sort((left, right) => left.rank - right.rank)
      .map(({ merchant }) => merchant);
  }

  #renew(wish: Omit<RenewalRequest, 'trigger' | 'coolDownMs'>): void {
    const { renewer, held, sync } = this.#context;
    const trigger = held.seen(wish.merchant) === 0 ? 'startup' : 'schedule';
    renewer
      .renew({ ...wish, trigger, coolDownMs: 0 })
      .then((result) => this.#renewed(wish.merchant, result))
      .catch((error: unknown) => sync.reportBroken('renewal', error));
  }

  async #renewed(merchant: string, result: RenewalResult): Promise<void> {
    this.#context.sync.follow(merchant, result);
    if (this.#released.size > 0) this.wake();
    if (this.#hasBacklog && result.kind === 'renewed' && this.#isHalfFree(merchant)) await this.tick();
  }

  #isHalfFree(merchant: string): boolean {
    const { merchants, load, renewer } = this.#context;
    return renewer.inFlight <= ASK_AGAIN_AT && load.isHalfFree(merchants.gatewayIdOf(merchant));
  }
}
