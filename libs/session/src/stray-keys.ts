import { type Clock, type Instant, plusMs } from '#libs/clock';
import type { FailureBoard } from './failure-board.js';
import { isOfOtherKey, type ToldFailure } from './failure-cause.js';
import type { HeldSessions } from './held-sessions.js';
import type { Merchants } from './ports/merchants.js';
import type { RecordedFailure } from './ports/session-store.js';

/** The replica with the other key makes its next attempt when a session falls due, or when its back-off is over. */
const WATCHED_FOR_MS = 3_600_000;

/** Another replica asked the gateway with a key that is not our newest, and thereby ended our session. */
export interface StrayKey {
  readonly failure: ToldFailure;
  /** When that counts as over, unless it is seen again. */
  readonly watchedUntil: Instant;
}

interface StrayKeysParts {
  readonly clock: Clock;
  readonly merchants: Merchants;
  readonly held: Pick<HeldSessions, 'unopened'>;
  readonly failures: Pick<FailureBoard, 'get' | 'onAnyFailure'>;
}

/**
 * What remains of such an attempt once a session has been made with the right key: nothing keeps the next one from
 * coming, and it would end the new session as well.
 */
export class StrayKeys {
  readonly #parts: StrayKeysParts;
  readonly #seen = new Map<string, StrayKey & { readonly untilMs: number }>();

  constructor(parts: StrayKeysParts) {
    this.#parts = parts;
    parts.failures.onAnyFailure((merchant, failure) => this.#note(merchant, failure));
  }

  /** @returns undefined if nothing of the kind was seen, or not recently, or if no session has been made since */
  of(merchant: string): StrayKey | undefined {
    const { merchants, held, failures } = this.#parts;
    const isReplaced = failures.get(merchant) === undefined && held.unopened(merchant) === undefined;
    const canEnd = merchants.settingsOf(merchant)?.supersedes !== false;
    return isReplaced && canEnd ? this.#recent(merchant) : undefined;
  }

  forget(merchant: string): void {
    this.#seen.delete(merchant);
  }

  #recent(merchant: string): StrayKey | undefined {
    const seen = this.#seen.get(merchant);
    if (seen === undefined || this.#parts.clock.monotonicMs() < seen.untilMs) return seen;
    this.#seen.delete(merchant);
    return undefined;
  }

  #note(merchant: string, failure: RecordedFailure): void {
    const newestKey = this.#parts.merchants.newestKeyOf?.(merchant);
    if (newestKey === undefined || failure.trace?.lostSession !== true) return;
    const told = { ...failure, newestKey };
    if (!isOfOtherKey(told)) return;
    const { clock } = this.#parts;
    this.#seen.set(merchant, {
      failure: told,
      watchedUntil: plusMs(clock.now(), WATCHED_FOR_MS),
      untilMs: clock.monotonicMs() + WATCHED_FOR_MS,
    });
  }
}
