import { faultIf, type Rule } from './rule.js';
import type { MerchantSettings } from './settings/merchant-settings.js';

/** As applied by the renewer if `renewBefore` is not set. */
const DEFAULT_LEAD_TIMEOUTS = 2;

/** Rules between the settings that determine the moment of renewal; paths are relative to the merchant. */
export const momentRules: Readonly<Record<string, Rule<MerchantSettings>>> = {
  quietHoursHaveLength: ({ session: { quietHours } = {} }) =>
    faultIf(
      quietHours?.from !== undefined && quietHours.from === quietHours.to,
      'session.quietHours.to',
      'must not be the same time as from',
    ),
  /**
   * A share of a lifetime is not a fixed time: the renewer makes sure that no session is renewed in the first half of
   * its life because of quiet hours.
   */
  ageBeyondLead: ({ session: { renewEveryMs, renewBefore } = {}, gateway: { timeoutMs } = {} }) => {
    const lead = renewBefore ?? { kind: 'duration', durationMs: DEFAULT_LEAD_TIMEOUTS * (timeoutMs ?? 0) };
    return faultIf(
      renewEveryMs !== undefined && lead.kind === 'duration' && renewEveryMs < 2 * lead.durationMs,
      'session.renewEvery',
      'must be at least twice renewBefore (two gateway timeouts by default); raise it, or shorten renewBefore',
    );
  },
};
