import { merchantConditions } from '#libs/session';
import type { MerchantGauges } from '#libs/telemetry';

/** No merchant's id begins with this. */
const OTHERS = '_other';

/**
 * Which merchants have their own series. Each costs some sixty lines in every scrape, and as many series in Prometheus:
 * beyond a limit, merchants share one label, so that a replica with ten thousand is scraped like one with five hundred.
 */
export class MerchantLabels {
  readonly #own: ReadonlySet<string>;
  readonly #hasOthers: boolean;

  /** @param merchants in configuration order: the first ones matter most */
  constructor(merchants: readonly string[], most: number) {
    this.#own = new Set(merchants.slice(0, most));
    this.#hasOthers = merchants.length > most;
  }

  /** Every label in use. */
  all(): readonly string[] {
    return this.#hasOthers ? [...this.#own, OTHERS] : [...this.#own];
  }

  of(merchant: string): string {
    return this.#own.has(merchant) ? merchant : OTHERS;
  }

  /** Merges the merchants without their own series into one, which looks as bad as the worst of them. */
  *merged(all: Iterable<MerchantGauges>): Iterable<MerchantGauges> {
    let others: MerchantGauges | undefined;
    for (const gauges of all) {
      if (this.#own.has(gauges.merchant)) yield gauges;
      else others = worst(others, gauges);
    }
    if (others !== undefined) yield others;
  }
}

const earliest = (one?: number, other?: number): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);

const furthestOff = (one?: number, other?: number): number | undefined =>
  Math.abs(other ?? 0) > Math.abs(one ?? 0) ? other : (one ?? other);

/** Generations of different merchants cannot be compared. */
function worst(others: MerchantGauges | undefined, one: MerchantGauges): MerchantGauges {
  return {
    merchant: OTHERS,
    state: merchantConditions.find((state) => state === others?.state || state === one.state),
    expirySeconds: earliest(others?.expirySeconds, one.expirySeconds),
    renewSeconds: earliest(others?.renewSeconds, one.renewSeconds),
    lastSuccessSeconds: earliest(others?.lastSuccessSeconds, one.lastSuccessSeconds),
    nextAttemptSeconds: earliest(others?.nextAttemptSeconds, one.nextAttemptSeconds),
    clockSkewSeconds: furthestOff(others?.clockSkewSeconds, one.clockSkewSeconds),
    foreignAuthorizer: others?.foreignAuthorizer === 1 ? 1 : (one.foreignAuthorizer ?? others?.foreignAuthorizer),
  };
}
