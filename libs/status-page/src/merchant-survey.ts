import type { Clock } from '#libs/clock';
import { merchantConditions, type SessionReplica } from '#libs/session';
import type { StatusCondition, StatusCounts } from './status-document.js';

/** However many viewers look and search, every merchant is looked at only once in this time. */
const GOOD_FOR_MS = 1_000;

interface SurveyedMerchant {
  readonly id: string;
  readonly condition: StatusCondition;
}

/** The state of all merchants at one moment. */
interface Survey {
  /**
   * Those that need attention come first: by condition, and within it the one that expires first. They include
   * merchants that look well and that nobody can renew while the store is away.
   * Those that are well follow in the order of the configuration, so that they do not change places with each renewal.
   */
  readonly merchants: readonly SurveyedMerchant[];
  readonly counts: StatusCounts;
  /** How many merchants each gateway host has. */
  readonly hosts: ReadonlyMap<string, number>;
}

interface SurveyParts {
  readonly replica: Pick<SessionReplica, 'held' | 'conditionOf'>;
  readonly ids: () => readonly string[];
  readonly isRenewalBlocked: (merchant: string) => boolean;
  readonly hostOf: (merchant: string) => string | undefined;
  readonly clock: Clock;
}

/** Looks at every merchant, at a bounded pace: with ten thousand merchants, one look takes milliseconds. */
export class MerchantSurvey {
  readonly #parts: SurveyParts;
  #latest: { readonly survey: Survey; readonly atMs: number } | undefined;

  constructor(parts: SurveyParts) {
    this.#parts = parts;
  }

  /** At most a second old. */
  look(): Survey {
    const nowMs = this.#parts.clock.monotonicMs();
    if (this.#latest === undefined || nowMs - this.#latest.atMs >= GOOD_FOR_MS) {
      this.#latest = { survey: this.#survey(), atMs: nowMs };
    }
    return this.#latest.survey;
  }

  conditionOf(merchant: string): StatusCondition {
    return this.#parts.replica.conditionOf(merchant);
  }

  #survey(): Survey {
    const worrying: SurveyedMerchant[] = [];
    const well: SurveyedMerchant[] = [];
    const counts = { unavailable: 0, foreign_authorizer: 0, dead: 0, stale: 0, failing: 0, fresh: 0 };
    const hosts = new Map<string, number>();
    for (const id of this.#parts.ids()) {
      const condition = this.conditionOf(id);
      const host = this.#parts.hostOf(id);
      counts[condition] += 1;
      (this.#isWell(id, condition) ? well : worrying).push({ id, condition });
      if (host !== undefined) hosts.set(host, (hosts.get(host) ?? 0) + 1);
    }
    return { merchants: [...this.#worstFirst(worrying), ...well], counts, hosts };
  }

  #isWell(id: string, condition: StatusCondition): boolean {
    return condition === 'fresh' && !this.#parts.isRenewalBlocked(id);
  }

  #worstFirst(merchants: readonly SurveyedMerchant[]): SurveyedMerchant[] {
    const expiry = new Map(merchants.map(({ id }) => [id, this.#parts.replica.held.get(id)?.expiresAt ?? 0]));
    return merchants.toSorted(
      (left, right) =>
        merchantConditions.indexOf(left.condition) - merchantConditions.indexOf(right.condition) ||
        (expiry.get(left.id) ?? 0) - (expiry.get(right.id) ?? 0),
    );
  }
}
