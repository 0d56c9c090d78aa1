import type { HeldSessions } from './held-sessions.js';
import type { SessionEvents } from './ports/session-events.js';
import type { SessionStore, WantedState } from './ports/session-store.js';

interface UnopenedParts {
  readonly held: HeldSessions;
  readonly events: SessionEvents;
  readonly store: Pick<SessionStore, 'announce'>;
  /** Nobody was told: the store failed, or there is a bug of ours. */
  readonly onUntold: (error: unknown) => void;
}

/**
 * Stored sessions that do not open here. A replica that holds the same generation is not sent the text again, and so
 * cannot see that it was damaged: whoever needs it says so, once per generation, and whoever holds it then reads it in
 * full, and writes it again if it does not open there either. A key that one replica lacks is no reason to write
 * anything.
 */
export class UnopenedRecords {
  readonly #parts: UnopenedParts;
  readonly #told = new Map<string, number>();
  readonly #doubted = new Set<string>();

  constructor(parts: UnopenedParts) {
    this.#parts = parts;
  }

  /** What to ask the store for: a doubted record in full, any other only if it has changed. */
  wanted(merchants: readonly string[]): readonly WantedState[] {
    const { held } = this.#parts;
    return merchants.map((merchant) => ({ merchant, known: this.#doubted.has(merchant) ? 0 : held.known(merchant) }));
  }

  /**
   * That query was answered. A doubt about what was not asked for in full stays: it arose while the answer was on its
   * way.
   */
  answered(wanted: readonly WantedState[]): void {
    for (const { merchant, known } of wanted) if (known === 0) this.#doubted.delete(merchant);
  }

  /** @returns whether others were asked to look, so that another look a little later is worthwhile */
  found(merchant: string, generation: number): boolean {
    const { held, events, store, onUntold } = this.#parts;
    if (held.noteUnusable(merchant, generation)) events.emit({ event: 'record_unopenable', merchant, generation });
    if (generation <= Math.max(held.generationOf(merchant), this.#told.get(merchant) ?? 0)) return false;
    this.#told.set(merchant, generation);
    store.announce({ kind: 'unopenable', merchant, generation }).catch(onUntold);
    return true;
  }

  /** The merchant is looked at as planned: what did not open may have been written again. */
  looksAgain(merchant: string): void {
    if ((this.#told.get(merchant) ?? 0) > this.#parts.held.generationOf(merchant)) this.#doubted.add(merchant);
  }

  /** @returns whether to read the record: this replica could write it again */
  heard(merchant: string, generation: number): boolean {
    if (this.#parts.held.generationOf(merchant) !== generation) return false;
    this.#doubted.add(merchant);
    return true;
  }

  forget(merchant: string): void {
    this.#told.delete(merchant);
    this.#doubted.delete(merchant);
  }
}
