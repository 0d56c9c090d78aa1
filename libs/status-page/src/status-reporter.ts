import type { Clock } from '#libs/clock';
import { merchantConditions } from '#libs/session';
import { type Called, gatewaysOf } from './gateway-health.js';
import { merchantStatus } from './merchant-status.js';
import type { StatusCondition, StatusCounts, StatusDocument, StatusGateway, StatusReplica } from './status-document.js';
import type { StatusSource } from './status-source.js';
import type { StoreHealth } from './store-health.js';

/** Merchants in one document: more than anyone reads, and a bound on what every viewer is sent. */
export const MAX_LISTED = 100;

/** However many viewers look and search, every merchant is looked at only once in this time. */
const GOOD_FOR_MS = 1_000;

interface ReporterParts {
  readonly source: StatusSource;
  readonly clock: Clock;
  readonly store: StoreHealth;
  /** How far the clock of each gateway host is ahead. */
  readonly skews: ReadonlyMap<string, number>;
  /** The name by which people know this replica. */
  readonly name: string;
}

/** What a viewer searches for; an absent member matches everything. */
export interface StatusSearch {
  /** A part of the merchant's id. */
  readonly text?: string;
  readonly condition?: StatusCondition;
}

interface SurveyedMerchant extends Called {
  readonly id: string;
  readonly condition: StatusCondition;
}

/** The state of all merchants at one moment. */
interface Survey {
  readonly atMs: number;
  /**
   * Those that need attention come first: by condition, and within it the one that expires first. They include
   * merchants that look well and that nobody can renew while the store is away. Those that are well follow in the order
   * of the configuration, so that they do not change places with each renewal.
   */
  readonly merchants: readonly SurveyedMerchant[];
  readonly counts: StatusCounts;
  readonly gateways: readonly StatusGateway[];
}

/** Describes the state of this replica, as far as everyone who can reach the management port may know it. */
export class StatusReporter {
  readonly #parts: ReporterParts;
  readonly #startedAt: number;
  #latest: Survey | undefined;

  constructor(parts: ReporterParts) {
    this.#parts = parts;
    this.#startedAt = parts.clock.now();
  }

  report({ text = '', condition }: StatusSearch = {}): StatusDocument {
    const { source, clock, store } = this.#parts;
    const { merchants, counts, gateways } = this.#look();
    const matching = merchants.filter(
      (merchant) => merchant.id.includes(text) && (condition === undefined || merchant.condition === condition),
    );
    return {
      at: clock.now(),
      replica: this.#replica(),
      store: store.describe(),
      gateways,
      counts,
      matching: matching.length,
      merchants: matching.slice(0, MAX_LISTED).map(({ id }) => merchantStatus({ source, clock }, id)),
    };
  }

  /** With ten thousand merchants, one look takes milliseconds. */
  #look(): Survey {
    const nowMs = this.#parts.clock.monotonicMs();
    if (this.#latest === undefined || nowMs - this.#latest.atMs >= GOOD_FOR_MS) this.#latest = this.#survey(nowMs);
    return this.#latest;
  }

  #survey(atMs: number): Survey {
    const { source, skews } = this.#parts;
    const { replica } = source;
    const all = source.merchants().map((id) => {
      const host = source.merchant(id)?.gatewayHost ?? '';
      const called = { host, session: replica.held.get(id), failure: replica.failureOf(id) };
      return { id, condition: replica.conditionOf(id), ...called };
    });
    const alike = Map.groupBy(all, ({ condition }) => condition);
    const counts = merchantConditions.map((condition) => [condition, alike.get(condition)?.length ?? 0]);
    const { well = [], worrying = [] } = Object.groupBy(all, (one) => (this.#isWell(one) ? 'well' : 'worrying'));
    return {
      atMs,
      merchants: [...worstFirst(worrying), ...well],
      counts: Object.fromEntries(counts) as StatusCounts,
      gateways: gatewaysOf(all, skews),
    };
  }

  #isWell({ id, condition }: SurveyedMerchant): boolean {
    return condition === 'fresh' && !this.#parts.source.isRenewalBlocked(id);
  }

  #replica(): StatusReplica {
    const { source, name } = this.#parts;
    const { refusedChange: refused, restartAdvice: advice, ...condition } = source.condition();
    const { version, ready, storeReached, shuttingDown, awaitingRestart, awaitingSince } = condition;
    return {
      name,
      version,
      startedAt: this.#startedAt,
      ready,
      storeReached,
      shuttingDown,
      refusedChange: refused && { since: refused.since, faults: refused.faults, text: refused.text },
      awaitingRestart,
      awaitingSince,
      restartAdvice: advice && { text: advice.text, runbook: advice.runbook },
    };
  }
}

function worstFirst(merchants: readonly SurveyedMerchant[]): SurveyedMerchant[] {
  return merchants.toSorted(
    (left, right) =>
      merchantConditions.indexOf(left.condition) - merchantConditions.indexOf(right.condition) ||
      (left.session?.expiresAt ?? 0) - (right.session?.expiresAt ?? 0),
  );
}
