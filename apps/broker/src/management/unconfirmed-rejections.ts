import type { Clock } from '#libs/clock';
import type { SessionEvent, SessionEvents } from '#libs/session';
import type { CountedRejection } from '#libs/telemetry';
import { OTHERS } from './merchant-labels.js';

/** A session that somebody reported as dead. */
interface Reported {
  readonly generation: number;
  readonly sinceMs: number;
  readonly consumers: Set<string>;
  /** Whose report had the next session created. */
  cause?: string;
}

/** A session that is dead is dead for everyone: others that hold it find out with their next payment. */
const CONFIRMED_WITHIN_MS = 60_000;

/**
 * Renewals that one consumer caused by its report and that no other consumer of the merchant confirmed by one of its
 * own. A single one means nothing; a consumer that causes them again and again is broken, or does harm. Judged by what
 * this replica has heard.
 */
export class UnconfirmedRejections implements SessionEvents {
  readonly #clock: Clock;
  readonly #consumers: () => ReadonlySet<string>;
  readonly #reported = new Map<string, Reported>();
  readonly #counts = new Map<string, CountedRejection>();

  /** @param consumers those that a policy names: others share one label */
  constructor(clock: Clock, consumers: () => ReadonlySet<string>) {
    this.#clock = clock;
    this.#consumers = consumers;
  }

  emit(event: SessionEvent): void {
    if (event.event !== 'session_rejected' || event.consumer === undefined) return;
    const reported = this.#reportedAt(event.merchant, event.generation);
    if (reported === undefined) return;
    reported.consumers.add(event.consumer);
    if (event.result === 'renewed') reported.cause ??= event.consumer;
  }

  /** By merchant and consumer, those of which nobody else said the same in time. */
  *all(): Iterable<CountedRejection> {
    const nowMs = this.#clock.monotonicMs();
    for (const [merchant, reported] of this.#reported) {
      if (nowMs - reported.sinceMs >= CONFIRMED_WITHIN_MS) this.#judge(merchant, reported);
    }
    yield* this.#counts.values();
  }

  /** @returns undefined for the echo of a session that is long replaced */
  #reportedAt(merchant: string, generation: number): Reported | undefined {
    const known = this.#reported.get(merchant);
    if (known !== undefined && known.generation === generation) return known;
    if (known !== undefined && known.generation > generation) return undefined;
    if (known !== undefined) this.#judge(merchant, known);
    const reported: Reported = { generation, sinceMs: this.#clock.monotonicMs(), consumers: new Set() };
    this.#reported.set(merchant, reported);
    return reported;
  }

  #judge(merchant: string, { cause, consumers }: Reported): void {
    this.#reported.delete(merchant);
    if (cause === undefined || consumers.size > 1) return;
    const consumer = this.#consumers().has(cause) ? cause : OTHERS;
    const key = `${merchant} ${consumer}`;
    this.#counts.set(key, { merchant, consumer, count: (this.#counts.get(key)?.count ?? 0) + 1 });
  }
}
