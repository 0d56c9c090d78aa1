import { formatDuration, parseTimeOfDayMs } from '#libs/clock';
import type { LeadTime } from '#libs/session';
import type { Loose } from './check-settings.js';
import type { Warning } from './fault.js';
import { faultIf, type Rule } from './rule.js';
import type { MerchantSettings } from './settings/merchant-settings.js';

const DAY_MS = 86_400_000;
/**
 * A failed renewal is retried for minutes, and a fleet is spread over the window: a shorter window has room for
 * neither.
 */
const MIN_ADVISABLE_MS = 1_800_000;
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

/** Settings that make the quiet hours of a merchant less effective than their name suggests. */
export function quietHoursWarnings(merchants: readonly (Loose<MerchantSettings> | undefined)[]): Warning[] {
  return merchants.flatMap((merchant, index) => {
    const { quietHours, renewBefore, longestLifetimeMs, renewEveryMs } = merchant?.session ?? {};
    const { from, to } = quietHours ?? {};
    if (from === undefined || to === undefined || longestLifetimeMs === undefined) return [];
    const lengthMs = lengthOf(from, to);
    const path = `merchants[${index}].session`;
    const missesNight =
      renewEveryMs === undefined && longestLifetimeMs - leadOf(renewBefore, longestLifetimeMs) < DAY_MS - lengthMs;
    return [
      ...faultIf(
        lengthMs < MIN_ADVISABLE_MS,
        `${path}.quietHours`,
        `are shorter than ${formatDuration(MIN_ADVISABLE_MS)}: a renewal that fails in them is tried again after they have ended`,
      ),
      ...faultIf(
        missesNight && renewBefore !== undefined,
        `${path}.renewBefore`,
        'is so long that no session lasts until the next quiet hours: each day has a renewal outside of them',
      ),
    ];
  });
}

function lengthOf(from: string, to: string): number {
  const lengthMs = (parseTimeOfDayMs(to) ?? 0) - (parseTimeOfDayMs(from) ?? 0);
  return lengthMs > 0 ? lengthMs : lengthMs + DAY_MS;
}

function leadOf(lead: LeadTime | undefined, longestLifetimeMs: number): number {
  if (lead === undefined) return 0;
  return lead.kind === 'share' ? lead.share * longestLifetimeMs : lead.durationMs;
}
