import { DailyWindow, formatDuration } from '#libs/clock';
import type { Member } from './judged.js';
import { believedLifeMs, currentLeadShare } from './needed-lead.js';
import type { SimulationSetup } from './simulation.js';
import { hours, seconds } from './spans.js';
import type { Wording } from './wording.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** The lead of a merchant is up to this much longer, depending on its id. */
const SPREAD_SHARE = 0.1;
/** A session that reaches the next quiet hours only just is not renewed in them: no two live equally long. */
const AIM_MS = 2 * MINUTE_MS;
const ROUND_MS = 10 * MINUTE_MS;

/**
 * Sessions that do not live from the end of the quiet hours to the next ones: some are renewed by day, whatever is set.
 * @param members with the same settings
 */
export function impossibleQuietHours(members: readonly Member[]): Wording {
  const [first] = members;
  const outside = sumOf(members, ({ figures }) => figures.outsideQuietHours ?? 0);
  if (first === undefined || outside === 0) return [];
  const { setup } = first;
  const quiet = quietLengthMs(setup);
  if (quiet === undefined || ageMs(setup) >= DAY_MS - quiet) return [];
  const renewals = sumOf(members, ({ figures }) => figures.sessions - 1);
  const counted = `${outside} of ${renewals} ${renewals === 1 ? 'renewal was' : 'renewals were'} outside of the quiet hours`;
  return [`${whatOf(setup)} cannot be renewed within ${seconds(quiet)} a day: ${counted}. ${remedyOf(setup, quiet)}`];
}

function sumOf(members: readonly Member[], of: (member: Member) => number): number {
  return members.reduce((sum, member) => sum + of(member), 0);
}

function quietLengthMs({ settings }: SimulationSetup): number | undefined {
  return settings.quietHours && new DailyWindow(settings.quietHours).lengthMs;
}

function leadMs(setup: SimulationSetup): number {
  return currentLeadShare(setup) * believedLifeMs(setup);
}

/** The age that a session can have when it is renewed. */
function ageMs(setup: SimulationSetup): number {
  const byLead = believedLifeMs(setup) - (1 + SPREAD_SHARE) * leadMs(setup) - AIM_MS;
  return Math.min(byLead, setup.settings.renewEveryMs ?? byLead);
}

function whatOf(setup: SimulationSetup): string {
  const { renewEveryMs, renewBefore } = setup.settings;
  const sessions = `sessions of ${formatDuration(setup.behaviour.lifetimeMs)}`;
  if (isOfRenewEvery(setup)) return `${sessions} with a session.renewEvery of ${formatDuration(renewEveryMs ?? 0)}`;
  return renewBefore === undefined ? sessions : `${sessions} with a lead time of ${seconds(leadMs(setup))}`;
}

function isOfRenewEvery(setup: SimulationSetup): boolean {
  const { renewEveryMs = Infinity } = setup.settings;
  return renewEveryMs === ageMs(setup);
}

function remedyOf(setup: SimulationSetup, quietMs: number): string {
  const { renewBefore, longestLifetimeMs } = setup.settings;
  if (isOfRenewEvery(setup)) return 'Leave session.renewEvery out, or session.quietHours';
  if (renewBefore !== undefined && believedLifeMs(setup) + quietMs >= DAY_MS)
    return 'Set a session.renewBefore that is shorter than the quiet hours, or leave session.quietHours out';
  const leastMs = Math.ceil((DAY_MS - quietMs + (1 + SPREAD_SHARE) * leadMs(setup) + AIM_MS) / ROUND_MS) * ROUND_MS;
  const longer = leastMs <= longestLifetimeMs ? `, or ask the bank for sessions of ${hours(leastMs)} or longer` : '';
  return `Leave session.quietHours out${longer}${shorterLead(setup)}`;
}

/** What they cost although they are of no use. */
function shorterLead(setup: SimulationSetup): string {
  const usual = { ...setup, settings: { ...setup.settings, quietHours: undefined } };
  const [isMs, wasMs] = [leadMs(setup), leadMs(usual)];
  return isMs < wasMs ? `. With quiet hours the lead time is ${seconds(isMs)}, without ${seconds(wasMs)}` : '';
}
