import { section, text, wholeNumber } from '../setting.js';
import { durationBetween, leadTime } from '../value-rule.js';

/** At most so many create calls in any window: a hard stop for retry storms. */
export class BudgetSettings {
  @wholeNumber(1, 1_000) readonly calls: number = 20;
  @text(durationBetween('1s', '1d')) readonly window: string = '10m';
}

/** The `session` section of a merchant. */
export class RenewalSettings {
  @text(leadTime, { optional: true }) readonly renewBefore?: string;
  @text(leadTime, { optional: true }) readonly safetyMargin?: string;
  @text(durationBetween('1s', '365d')) readonly fallbackLifetime: string = '15m';
  @section(BudgetSettings) readonly budget: BudgetSettings = new BudgetSettings();
}
