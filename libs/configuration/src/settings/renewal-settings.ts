import { section, text, wholeNumber } from '../setting.js';
import { durationBetween, leadTime } from '../value-rule.js';

/** A hard stop for retry storms. */
export class BudgetSettings {
  @wholeNumber('At most so many create calls …', 1, 1_000)
  readonly calls: number = 20;

  @text('… in any window of this length.', durationBetween('1s', '1d'))
  readonly window: string = '10m';
}

/** The `session` section of a merchant. */
export class RenewalSettings {
  @text('How long before expiry to renew. Left out: 20 %, at least two gateway timeouts.', leadTime, { optional: true })
  readonly renewBefore?: string;

  @text('How long before expiry to stop handing out; less than `renewBefore`. Left out: 5 %, at most 30 s.', leadTime, {
    optional: true,
  })
  readonly safetyMargin?: string;

  @text('Lifetime of a session that names no expiry, from when the request was sent.', durationBetween('1s', '365d'))
  readonly fallbackLifetime: string = '15m';

  @text('No session is believed to live longer. At least `fallbackLifetime`.', durationBetween('1s', '365d'))
  readonly longestLifetime: string = '24h';

  @section(BudgetSettings) readonly budget: BudgetSettings = new BudgetSettings();
}
