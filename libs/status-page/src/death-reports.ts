import type { Clock } from '#libs/clock';
import type { SessionEvent, SessionEvents } from '#libs/session';

type Named<Name extends SessionEvent['event']> = Extract<SessionEvent, { event: Name }>;

/** Whoever looks some time after a duel has gone quiet must not take it for one that never was. */
export const QUIET_IS_TOLD_FOR_MS = 3_600_000;

/** As many names as one reads; the log has the rest. */
export const MAX_CONSUMERS = 5;
/** What a consumer passes on is what the gateway told it, or anything else: it is shown where it looks like a code. */
export const MAX_REASONS = 3;
const CODE = /^[\w.-]{1,64}$/;

/** Somebody else created sessions of a merchant, and nothing says whether they still do. */
interface QuietDuel {
  readonly sinceMs: number;
  readonly toldUntilMs: number;
}

interface ReportedSession {
  readonly generation: number;
  readonly consumers: Set<string>;
  readonly reasons: Set<string>;
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
    return [...(this.#reportOf(merchant, generation)?.consumers ?? [])];
  }

  /** With which codes of the gateway they did; a bounded number of them. */
  reasonsOf(merchant: string, generation: number | undefined): readonly string[] {
    return [...(this.#reportOf(merchant, generation)?.reasons ?? [])];
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

  #reportOf(merchant: string, generation: number | undefined): ReportedSession | undefined {
    const reported = this.#reported.get(merchant);
    return reported?.generation === generation ? reported : undefined;
  }

  #foreign({ merchant, isPresent, quietMs }: Named<'foreign_authorizer'>): void {
    if (isPresent) this.#quiet.delete(merchant);
    else this.#tellQuiet(merchant, this.#clock.monotonicMs() - quietMs);
  }

  #rejected({ merchant, generation, result, consumer, reason }: Named<'session_rejected'>): void {
    // A late report of one that was replaced says nothing of those after it.
    if (result === 'already_newer') return;
    if (this.quietMs(merchant) !== undefined) this.#tellQuiet(merchant, this.#clock.monotonicMs());
    const known = this.#reportOf(merchant, generation);
    const reported = known ?? { generation, consumers: new Set<string>(), reasons: new Set<string>() };
    const { consumers, reasons } = reported;
    if (consumer !== undefined && consumers.size < MAX_CONSUMERS) consumers.add(consumer);
    if (reason !== undefined && CODE.test(reason) && reasons.size < MAX_REASONS) reasons.add(reason);
    this.#reported.set(merchant, reported);
  }

  #adopted({ merchant, generation }: Named<'session_adopted'>): void {
    const reported = this.#reported.get(merchant);
    if (reported !== undefined && reported.generation < generation) this.#reported.delete(merchant);
  }

  #tellQuiet(merchant: string, sinceMs: number): void {
    this.#quiet.set(merchant, { sinceMs, toldUntilMs: this.#clock.monotonicMs() + QUIET_IS_TOLD_FOR_MS });
  }
}
