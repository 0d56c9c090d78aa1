import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { SessionReplica } from '#libs/session';
import { StoreState } from './store.js';

/** The steady pace. Between two ticks, the replica wakes itself when the next merchant falls due. */
const TICK_MS = 1_000;

/** Starts the replica and keeps it going. Before `start` it does nothing: a start that fails costs no create call. */
@Injectable()
export class RenewalScheduler {
  #hasStarted = false;

  constructor(
    private readonly replica: SessionReplica,
    private readonly store: StoreState,
  ) {
    store.onChange(() => this.#passOn());
  }

  /** To be called once the rest of the start has succeeded. */
  start(): void {
    this.#hasStarted = true;
    if (this.store.current?.condition === 'refuses') this.replica.storeRefuses();
    void this.replica.tick();
  }

  @Interval('renewal-tick', TICK_MS)
  async tick(): Promise<void> {
    if (this.#hasStarted) await this.replica.tick();
  }

  /** What the connection has found out. Before the start, the replica needs none of it: it asks with its first tick. */
  #passOn(): void {
    if (!this.#hasStarted) return;
    const condition = this.store.current?.condition;
    if (condition === 'answers') void this.replica.resync();
    if (condition === 'refuses') this.replica.storeRefuses();
  }
}
