import { type Clock, type Instant, plusMs } from '#libs/clock';
import type { HeldSessions } from './held-sessions.js';
import type { Merchants } from './ports/merchants.js';
import type { RenewalResult } from './renewal-result.js';

/** A session that a consumer has reported dead, and that no newer one has replaced. */
export interface ReportedDeath {
  readonly generation: number;
  /** Until then no call may be made for a report: the share of the budget that reports may spend is gone. */
  readonly shareSpentUntil?: Instant;
  /** Until then a report of it changes nothing: it was created for one just before. */
  readonly coolsDownUntil?: Instant;
}

interface ReportedDeathsContext {
  readonly held: HeldSessions;
  readonly merchants: Merchants;
  readonly clock: Clock;
}

/** What keeps a session from being replaced. Any other end of a report is told by whoever is at it, or passes in a moment. */
const LASTING: ReadonlySet<RenewalResult['kind']> = new Set([
  'budget_exhausted',
  'backing_off',
  'cooled_down',
  'failed',
  'store_down',
]);
/** Whoever meets a dead session meets it again within this time, and then it is replaced: a report that stays alone was a slip. */
const TOLD_AFTER_COOL_DOWN_MS = 300_000;

/**
 * The sessions that were reported dead to this replica and could not be replaced: they look fresh, and payments that use them
 * fail. One for each configured merchant at most, and only until a newer one is held.
 */
export class ReportedDeaths {
  readonly #context: ReportedDeathsContext;
  readonly #deaths = new Map<string, ReportedDeath>();

  constructor(context: ReportedDeathsContext) {
    this.#context = context;
  }

  /** @param result what became of the wish for a newer one */
  note(merchant: string, generation: number, result: RenewalResult | undefined): void {
    const { merchants, clock } = this.#context;
    if (result === undefined || !LASTING.has(result.kind) || merchants.settingsOf(merchant) === undefined) return;
    const until = 'retryInMs' in result ? plusMs(clock.now(), result.retryInMs) : clock.now();
    this.#deaths.set(merchant, { generation, ...untilOf(result.kind, until) });
  }

  /** Of the session that is held; undefined when nobody has reported it, or it is not served any more. */
  of(merchant: string): ReportedDeath | undefined {
    const { held, clock } = this.#context;
    const death = this.#deaths.get(merchant);
    if (death === undefined) return undefined;
    if (held.generationOf(merchant) > death.generation) {
      this.#deaths.delete(merchant);
      return undefined;
    }
    // After its end a session is replaced like any other.
    if (held.facts(merchant).leftMs <= 0) return undefined;
    const { generation, shareSpentUntil, coolsDownUntil } = death;
    const now = clock.now();
    if (coolsDownUntil !== undefined && plusMs(coolsDownUntil, TOLD_AFTER_COOL_DOWN_MS) <= now) return undefined;
    return {
      generation,
      ...(shareSpentUntil !== undefined && shareSpentUntil > now ? { shareSpentUntil } : {}),
      ...(coolsDownUntil !== undefined && coolsDownUntil > now ? { coolsDownUntil } : {}),
    };
  }

  forget(merchant: string): void {
    this.#deaths.delete(merchant);
  }
}

function untilOf(kind: RenewalResult['kind'], until: Instant): Omit<ReportedDeath, 'generation'> {
  if (kind === 'budget_exhausted') return { shareSpentUntil: until };
  return kind === 'cooled_down' ? { coolsDownUntil: until } : {};
}
