import type { Clock } from '#libs/clock';
import type { SessionEvent, SessionEvents } from '#libs/session';

type Named<Name extends SessionEvent['event']> = Extract<SessionEvent, { event: Name }>;

/** Whoever looks some time after a duel has gone quiet must not take it for one that never was. */
export const QUIET_IS_TOLD_FOR_MS = 3_600_000;

/** As many names as one reads; the log has the rest. */
export const MAX_CONSUMERS = 5;

/** Somebody else created sessions of a merchant, and nothing says whether they still do. */
interface QuietDuel {
  readonly sinceMs: number;
  readonly toldUntilMs: number;
}

interface ReportedSession {
  readonly generation: number;
  readonly consumers: Set<string>;
}

/** What consumers of this replica reported of sessions that are dead, and what followed from their silence. */
export class DeathReports implements SessionEvents {
  readonly #clock: Clock;
  readonly #quiet = new Map<string, QuietDuel>();
  /** The newest that was reported, of each merchant that has one. */
  readonly #reported = new Map<string, ReportedSession>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  emit(event: SessionEvent): void {
    if (event.event === 'foreign_authorizer') this.#foreign(event);
    if (event.event === 'session_rejected') this.#rejected(event);
    if (event.event === 'session_adopted') this.#adopted(event);
  }

  /** Who has reported this session; a bounded number of them. */
  consumersOf(merchant: string, generation: number | undefined): readonly string[] {
    const reported = this.#reported.get(merchant);
    return reported === undefined || reported.generation !== generation ? [] : [...reported.consumers];
  }

  /**
   * For a merchant that somebody else created for not long ago: how long nobody has reported a dead session.
   * @returns undefined where nothing of the kind is known, or not any more
   */
  quietMs(merchant: string): number | undefined {
    const quiet = this.#quiet.get(merchant);
    const nowMs = this.#clock.monotonicMs();
    if (quiet !== undefined && nowMs < quiet.toldUntilMs) return nowMs - quiet.sinceMs;
    this.#quiet.delete(merchant);
    return undefined;
  }

  #foreign({ merchant, isPresent, quietMs }: Named<'foreign_authorizer'>): void {
    if (isPresent) this.#quiet.delete(merchant);
    else this.#tellQuiet(merchant, this.#clock.monotonicMs() - quietMs);
  }

  #rejected({ merchant, generation, result, consumer }: Named<'session_rejected'>): void {
    // A late report of one that was replaced says nothing of those after it.
    if (result === 'already_newer') return;
    if (this.quietMs(merchant) !== undefined) this.#tellQuiet(merchant, this.#clock.monotonicMs());
    const known = this.#reported.get(merchant);
    const consumers = known?.generation === generation ? known.consumers : new Set<string>();
    if (consumer !== undefined && consumers.size < MAX_CONSUMERS) consumers.add(consumer);
    this.#reported.set(merchant, { generation, consumers });
  }

  #adopted({ merchant, generation }: Named<'session_adopted'>): void {
    const reported = this.#reported.get(merchant);
    if (reported !== undefined && reported.generation < generation) this.#reported.delete(merchant);
  }

  #tellQuiet(merchant: string, sinceMs: number): void {
    this.#quiet.set(merchant, { sinceMs, toldUntilMs: this.#clock.monotonicMs() + QUIET_IS_TOLD_FOR_MS });
  }
}
