import { type Clock, type Instant, msBetween, plusMs } from '#libs/clock';
import type { HeldSessions } from './held-sessions.js';
import type { Merchants } from './ports/merchants.js';
import type { SessionEvents } from './ports/session-events.js';
import type { DeathReport, SessionStore } from './ports/session-store.js';
import type { RenewalResult } from './renewal-result.js';
import { isStoreOutage } from './store-outage.js';

/** A session that a consumer has reported dead and that no newer one has replaced. */
export interface ReportedDeath {
  readonly generation: number;
  /** Until then no call may be made for a report: the budget's share for reports is spent. */
  readonly shareSpentUntil?: Instant;
  /** Until then a report of it changes nothing: it was itself created for one just before. */
  readonly coolsDownUntil?: Instant;
}

interface KnownDeath {
  readonly death: ReportedDeath;
  readonly reportedAt: Instant;
  /** Whether the store has it, as far as this replica knows. */
  readonly isTold: boolean;
}

interface ReportedDeathsContext {
  readonly store: Pick<SessionStore, 'reportDead'>;
  readonly held: HeldSessions;
  readonly merchants: Merchants;
  readonly clock: Clock;
  readonly events: SessionEvents;
}

/**
 * What keeps a session from being replaced. Any other outcome of a report is announced by whoever handles it, or passes
 * in a moment.
 */
const LASTING: ReadonlySet<RenewalResult['kind']> = new Set([
  'budget_exhausted',
  'backing_off',
  'cooled_down',
  'failed',
  'store_down',
]);
/**
 * Anyone who meets a dead session meets it again within this time, and then it is replaced: a single report was a
 * mistake.
 */
const TOLD_AFTER_COOL_DOWN_MS = 300_000;
/**
 * Reports that go on are passed on again after this share of a pause: if somebody else creates, two pauses without any
 * mean that it is over.
 */
const SAID_AGAIN_PER_PAUSE = 0.5;
/** An end later by no more than this is the same one, asked for twice. */
const SAME_END_MS = 1_000;

/**
 * The sessions that were reported dead to any replica and could not be replaced: they look fresh, and payments that use
 * them fail. At most one per configured merchant, and only until a newer one is held. What is reported here is kept
 * with the session in the store, where the other replicas read it. A store that does not have it, because it was away
 * or has lost it, is told the next time it is read.
 */
export class ReportedDeaths {
  readonly #context: ReportedDeathsContext;
  readonly #deaths = new Map<string, KnownDeath>();
  readonly #telling = new Set<string>();

  constructor(context: ReportedDeathsContext) {
    this.#context = context;
  }

  /**
   * A consumer has reported it to this replica.
   * @param result the result of the wish for a newer one
   */
  note(merchant: string, generation: number, result: RenewalResult | undefined): void {
    const { merchants, clock } = this.#context;
    const settings = merchants.settingsOf(merchant);
    if (settings === undefined) return;
    if (result === undefined || !LASTING.has(result.kind)) return;
    const reportedAt = clock.now();
    const until = 'retryInMs' in result ? plusMs(reportedAt, result.retryInMs) : reportedAt;
    const death = { generation, ...untilOf(result.kind, until) };
    const known = this.#deaths.get(merchant);
    if (known === undefined || isNews(death, known.death)) {
      this.#deaths.set(merchant, { death, reportedAt, isTold: false });
    } else if (msBetween(known.reportedAt, reportedAt) >= SAID_AGAIN_PER_PAUSE * settings.foreignAuthorizerPauseMs) {
      this.#deaths.set(merchant, { death: laterOf(known.death, death), reportedAt, isTold: false });
    }
    this.#tell(merchant);
  }

  /** The store was read: what it has on the stored session, which may have been reported to any replica. */
  see(merchant: string, report: DeathReport | undefined): void {
    const known = this.#deaths.get(merchant);
    if (report !== undefined) this.#context.held.noteReported(merchant, report.generation);
    if (report === undefined) {
      if (known === undefined || this.of(merchant) === undefined) return;
      this.#deaths.set(merchant, { ...known, isTold: false });
    } else if (known === undefined || isTheLastWord(report, known)) {
      this.#deaths.set(merchant, knownFrom(report, this.#context.clock.now()));
    }
    this.#tell(merchant);
  }

  /** For the held session; undefined if nobody has reported it, or if it is no longer served. */
  of(merchant: string): ReportedDeath | undefined {
    const { held, clock } = this.#context;
    const death = this.#deaths.get(merchant)?.death;
    if (death === undefined) return undefined;
    if (held.generationOf(merchant) > death.generation) {
      this.#deaths.delete(merchant);
      return undefined;
    }
    // After its end, a session is replaced like any other.
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

  /** Whether something lasting kept the held session, reported dead, from being replaced. */
  wasHeldUp(merchant: string): boolean {
    return this.#deaths.get(merchant)?.death.generation === this.#context.held.generationOf(merchant);
  }

  forget(merchant: string): void {
    this.#deaths.delete(merchant);
  }

  #tell(merchant: string): void {
    const known = this.#deaths.get(merchant);
    if (known === undefined || known.isTold || this.#telling.has(merchant)) return;
    this.#telling.add(merchant);
    this.#context.store
      .reportDead(merchant, reportOf(known, this.#context.clock.now()))
      .then((isKept) => this.#told(merchant, known, isKept))
      .catch((error: unknown) => this.#untold(merchant, error));
  }

  #told(merchant: string, told: KnownDeath, isKept: boolean): void {
    this.#telling.delete(merchant);
    const known = this.#deaths.get(merchant);
    if (known?.death !== told.death) return this.#tell(merchant);
    if (isKept) this.#deaths.set(merchant, { ...known, isTold: true });
  }

  #untold(merchant: string, error: unknown): void {
    this.#telling.delete(merchant);
    // ObservedStore reports an outage.
    if (isStoreOutage(error)) return;
    this.#context.events.emit({ event: 'broken', activity: 'report of a dead session', error });
  }
}

/**
 * A repetition or an earlier end is no news: replicas that are refused for different reasons, or count on their own,
 * would tell each other without end.
 */
function isNews(death: ReportedDeath, known: ReportedDeath): boolean {
  const [end, before] = [endOf(death), endOf(known)];
  if (death.generation !== known.generation) return true;
  if (end === undefined || before === undefined) return end !== before;
  return msBetween(before, end) > SAME_END_MS;
}

/** Whether what the store has replaces what is known here: not if the store is still to be told. */
function isTheLastWord({ generation }: DeathReport, { death, isTold }: KnownDeath): boolean {
  return generation > death.generation || (generation === death.generation && isTold);
}

/** Of two reports of one session, the one held up for longer. */
function laterOf(one: ReportedDeath, other: ReportedDeath): ReportedDeath {
  return (endOf(one) ?? 0) > (endOf(other) ?? 0) ? one : other;
}

function endOf({ shareSpentUntil, coolsDownUntil }: ReportedDeath): Instant | undefined {
  return shareSpentUntil ?? coolsDownUntil;
}

function reportOf({ death, reportedAt }: KnownDeath, now: Instant): DeathReport {
  const { generation, shareSpentUntil } = death;
  const report = { generation, ageMs: Math.max(0, msBetween(reportedAt, now)) };
  const end = endOf(death);
  if (end === undefined) return report;
  const forMs = Math.max(0, msBetween(reportedAt, end));
  return { ...report, heldUp: { by: shareSpentUntil === undefined ? 'cool_down' : 'budget', forMs } };
}

/** Never held up for longer than was reported, however the store's clock was moved. */
function knownFrom({ generation, ageMs, heldUp }: DeathReport, now: Instant): KnownDeath {
  const reportedAt = plusMs(now, -Math.max(0, ageMs));
  if (heldUp === undefined) return { death: { generation }, reportedAt, isTold: true };
  const until = plusMs(reportedAt, heldUp.forMs);
  const ends = heldUp.by === 'budget' ? { shareSpentUntil: until } : { coolsDownUntil: until };
  return { death: { generation, ...ends }, reportedAt, isTold: true };
}

function untilOf(kind: RenewalResult['kind'], until: Instant): Omit<ReportedDeath, 'generation'> {
  if (kind === 'budget_exhausted') return { shareSpentUntil: until };
  return kind === 'cooled_down' ? { coolsDownUntil: until } : {};
}
