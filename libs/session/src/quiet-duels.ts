import { type Clock, type Instant, plusMs } from '#libs/clock';
import type { SessionEvent, SessionEvents } from './ports/session-events.js';

type Named<Name extends SessionEvent['event']> = Extract<SessionEvent, { event: Name }>;

/** Whoever looks some time after a duel has gone quiet must not mistake it for one that never was. */
export const QUIET_IS_TOLD_FOR_MS = 3_600_000;

/** Somebody else created sessions of a merchant, and nothing shows whether they still do. */
interface QuietDuel {
  readonly createdUntil: Instant;
  readonly sinceMs: number;
  readonly toldUntilMs: number;
}

interface QuietDuelsContext {
  readonly clock: Clock;
  readonly events: SessionEvents;
}

/**
 * The merchants for which somebody else recently created sessions, known from the events it passes on. The absence of
 * reports of dead sessions is no all-clear: while nobody pays, nobody finds one dead.
 */
export class QuietDuels implements SessionEvents {
  readonly #context: QuietDuelsContext;
  readonly #quiet = new Map<string, QuietDuel>();

  constructor(context: QuietDuelsContext) {
    this.#context = context;
  }

  emit(event: SessionEvent): void {
    if (event.event === 'foreign_authorizer') this.#foreign(event);
    if (event.event === 'session_rejected') this.#rejected(event);
    this.#context.events.emit(event);
  }

  /**
   * For a merchant that somebody else recently created sessions for: how long nobody has reported a dead session to
   * this replica.
   * @returns undefined if nothing of the kind is known, or no longer
   */
  quietMs(merchant: string): number | undefined {
    const quiet = this.#quiet.get(merchant);
    const nowMs = this.#context.clock.monotonicMs();
    if (quiet !== undefined && nowMs < quiet.toldUntilMs) return nowMs - quiet.sinceMs;
    this.#quiet.delete(merchant);
    return undefined;
  }

  /** For such a merchant: when a report last showed that somebody else creates. */
  createdUntil(merchant: string): Instant | undefined {
    return this.quietMs(merchant) === undefined ? undefined : this.#quiet.get(merchant)?.createdUntil;
  }

  forget(merchant: string): void {
    this.#quiet.delete(merchant);
  }

  #foreign({ merchant, isPresent, quietMs }: Named<'foreign_authorizer'>): void {
    if (isPresent) this.#quiet.delete(merchant);
    else this.#tellQuiet(merchant, quietMs, plusMs(this.#context.clock.now(), -Math.round(quietMs)));
  }

  #rejected({ merchant, result }: Named<'session_rejected'>): void {
    // A late report of a replaced session says nothing about those after it.
    if (result === 'already_newer') return;
    const createdUntil = this.createdUntil(merchant);
    if (createdUntil !== undefined) this.#tellQuiet(merchant, 0, createdUntil);
  }

  #tellQuiet(merchant: string, quietMs: number, createdUntil: Instant): void {
    const nowMs = this.#context.clock.monotonicMs();
    const toldUntilMs = nowMs + QUIET_IS_TOLD_FOR_MS;
    this.#quiet.set(merchant, { createdUntil, sinceMs: nowMs - quietMs, toldUntilMs });
  }
}
