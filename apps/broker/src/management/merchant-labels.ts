import type { MerchantGauges } from '#libs/telemetry';

/** No merchant's id begins with this. */
export const OTHERS = '_other';

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

type Moment = 'expirySeconds' | 'renewSeconds' | 'lastSuccessSeconds' | 'nextAttemptSeconds';
const MOMENTS: readonly Moment[] = ['expirySeconds', 'renewSeconds', 'lastSuccessSeconds', 'nextAttemptSeconds'];

/**
 * The earliest of each time, and the clock that is furthest off. Generations of different merchants cannot be compared.
 */
function worst(
  others: MerchantGauges | undefined,
  { clockSkewSeconds, foreignAuthorizer, ...gauges }: MerchantGauges,
): MerchantGauges {
  const moments = MOMENTS.flatMap((moment) => {
    const values = [others?.[moment], gauges[moment]].filter((value) => value !== undefined);
    return values.length === 0 ? [] : [[moment, Math.min(...values)]];
  });
  const skews = [others?.clockSkewSeconds, clockSkewSeconds].filter((skew) => skew !== undefined);
  const skew = skews.reduce<number | undefined>(
    (most, one) => (Math.abs(one) > Math.abs(most ?? 0) ? one : most),
    skews[0],
  );
  const disputed = others?.foreignAuthorizer === 1 ? 1 : (foreignAuthorizer ?? others?.foreignAuthorizer);
  return {
    merchant: OTHERS,
    ...(Object.fromEntries(moments) as Partial<Record<Moment, number>>),
    ...(skew === undefined ? {} : { clockSkewSeconds: skew }),
    ...(disputed === undefined ? {} : { foreignAuthorizer: disputed }),
  };
}
