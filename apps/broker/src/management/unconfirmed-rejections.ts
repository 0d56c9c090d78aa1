import type { Clock } from '#libs/clock';
import type { SessionEvent, SessionEvents } from '#libs/session';
import type { CountedRejection } from '#libs/telemetry';

/** A session that a consumer reported as dead. */
interface Reported {
  readonly generation: number;
  readonly sinceMs: number;
  readonly consumers: Set<string>;
  /** The consumer whose report caused the next session to be created. */
  cause?: string;
}

/** A dead session is dead for everyone: other consumers that hold it find out with their next payment. */
const CONFIRMED_WITHIN_MS = 60_000;

/**
 * Renewals that one consumer caused by its report and that no other consumer of the merchant confirmed with its own
 * report. A single one means nothing; a consumer that causes them again and again is broken or malicious. Judged by the
 * reports that this replica has received; only callers that a policy names can report.
 */
export class UnconfirmedRejections implements SessionEvents {
  readonly #reported = new Map<string, Reported>();
  readonly #counts = new Map<string, CountedRejection>();

  constructor(private readonly clock: Clock) {}

  emit(event: SessionEvent): void {
    if (event.event !== 'session_rejected' || event.consumer === undefined) return;
    const reported = this.#reportedAt(event.merchant, event.generation);
    if (reported === undefined) return;
    reported.consumers.add(event.consumer);
    if (event.result === 'renewed') reported.cause ??= event.consumer;
  }

  /** By merchant and consumer, the reports that no other consumer confirmed in time. */
  *all(): Iterable<CountedRejection> {
    const nowMs = this.clock.monotonicMs();
    for (const [merchant, reported] of this.#reported) {
      if (nowMs - reported.sinceMs >= CONFIRMED_WITHIN_MS) this.#judge(merchant, reported);
    }
    yield* this.#counts.values();
  }

  /** @returns undefined for a late report of a session that has long been replaced */
  #reportedAt(merchant: string, generation: number): Reported | undefined {
    const known = this.#reported.get(merchant);
    if (known !== undefined && known.generation === generation) return known;
    if (known !== undefined && known.generation > generation) return undefined;
    if (known !== undefined) this.#judge(merchant, known);
    const reported: Reported = { generation, sinceMs: this.clock.monotonicMs(), consumers: new Set() };
    this.#reported.set(merchant, reported);
    return reported;
  }

  #judge(merchant: string, { cause, consumers }: Reported): void {
    this.#reported.delete(merchant);
    if (cause === undefined || consumers.size > 1) return;
    const key = `${merchant} ${cause}`;
    this.#counts.set(key, { merchant, consumer: cause, count: (this.#counts.get(key)?.count ?? 0) + 1 });
  }
}
