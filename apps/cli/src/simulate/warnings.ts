import { DailyWindow, formatDuration } from '#libs/clock';
import { leadShareOf, leadShares } from '#libs/session';
import type { Played } from './figures.js';
import { type SimulationSetup, SLOWEST_CALL } from './played-gateway.js';
import { seconds } from './spans.js';

/** The same text for every merchant that it is true of, but for a length of time that ends it. */
type Warning = readonly [text: string, forMs?: number];

/** What a setting, the bank or another run mends. */
type Check = (played: Played) => Warning | undefined;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** With fewer renewals, the first session, which came at an arbitrary time of day, outweighs those that follow. */
const ENOUGH_RENEWALS = 3;
/** Between two attempts after many failures. */
const MAX_PAUSE_MS = 4 * HOUR_MS;
/** With quiet hours, the lead of a merchant is up to this many times as long, depending on its id. */
const MAX_SPREAD = 1.1;
/** A session that reaches the next quiet hours only just is not renewed in them: no two live equally long. */
const AIM_MS = 2 * MINUTE_MS;
const MAX_NAMED = 3;

const checks: readonly Check[] = [
  outageNotPlayed,
  callsTooSlow,
  fewRenewals,
  clocksApart,
  leadCut,
  leadTooShort,
  quietHoursNotKept,
  sessionMissing,
];

/** Those that are true of several merchants are told once, and name them. */
export function warningsOf(all: readonly Played[]): readonly string[] {
  const told = new Map<string, { readonly merchants: string[]; readonly spansMs: number[] }>();
  for (const played of all) {
    for (const [text, forMs] of found(played)) {
      const { merchants, spansMs } = told.get(text) ?? { merchants: [], spansMs: [] };
      told.set(text, { merchants, spansMs });
      merchants.push(played.setup.merchant);
      if (forMs !== undefined) spansMs.push(forMs);
    }
  }
  return [...told].map(([text, of]) => `${named(of.merchants, all.length)}: ${text}${longestOf(of.spansMs)}`);
}

export const isWarnedOf = (played: Played): boolean => found(played).length > 0;

const found = (played: Played): readonly Warning[] =>
  checks.map((check) => check(played)).filter((warning) => warning !== undefined);

function longestOf(spansMs: readonly number[]): string {
  if (spansMs.length === 0) return '';
  const [least, most] = [seconds(Math.min(...spansMs)), seconds(Math.max(...spansMs))];
  return least === most ? ` ${most}` : ` at most ${most}`;
}

function named(merchants: readonly string[], all: number): string {
  const more = merchants.length - MAX_NAMED;
  const names = `${merchants.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  if (merchants.length < all) return `${merchants.length} of ${all} (${names})`;
  return more > 0 ? `all ${all} (${names})` : names;
}

/** An outage that is only partly played, or not at all: the figures would look too good. */
export function outageNotPlayed({ setup, log, figures }: Played): Warning | undefined {
  const { outageMs, lifetimeMs } = setup.behaviour;
  if (outageMs === 0 || (log.outageEndsAtMs ?? Infinity) <= setup.durationMs) return undefined;
  const part = log.outageEndsAtMs === undefined ? 'was not played' : 'was not played to its end';
  const text = `the outage of ${formatDuration(outageMs)} ${part}: it begins with the first renewal after half of the run`;
  const neededMs = 2 * (outageMs + lifetimeMs + MAX_PAUSE_MS);
  return figures.budgetRefusals > 0 && neededMs <= setup.durationMs
    ? [`${text}, which a spent session.budget held up: play it without --outage first`]
    : [`${text}; give --for ${roundedUp(Math.max(neededMs, setup.durationMs + 1))}`];
}

function callsTooSlow({ setup: { behaviour, settings }, figures }: Played): Warning | undefined {
  if (figures.failures['timeout'] === undefined) return undefined;
  const slowest = `with a latency of ${formatDuration(behaviour.latencyMs)} one takes up to ${formatDuration(SLOWEST_CALL * behaviour.latencyMs)}`;
  const limit = `gateway.timeout (${formatDuration(settings.gatewayTimeoutMs)})`;
  return [`create calls took longer than ${limit}: ${slowest}; raise it, or ask the bank why its answers take so long`];
}

function fewRenewals(played: Played): Warning | undefined {
  const { setup, figures } = played;
  const enoughMs = ENOUGH_RENEWALS * setup.behaviour.lifetimeMs;
  const isEnough = setup.durationMs >= enoughMs || figures.sessions > ENOUGH_RENEWALS;
  if (isEnough || figures.sessions === 0 || outageNotPlayed(played) !== undefined) return undefined;
  const longer = roundedUp(enoughMs + setup.behaviour.lifetimeMs);
  return [`fewer than ${ENOUGH_RENEWALS} renewals were played, which says little of later ones: give --for ${longer}`];
}

function clocksApart({ setup: { behaviour, settings } }: Played): Warning | undefined {
  if (Math.abs(behaviour.skewMs ?? 0) <= settings.largestClockSkewMs) return undefined;
  const limit = `gateway.largestClockSkew (${formatDuration(settings.largestClockSkewMs)})`;
  return [
    `the clocks are further apart than ${limit}: the gateway's is not believed, and sessions may be taken for shorter than they are; set the clocks right`,
  ];
}

/** A share above the maximum is refused in the configuration; a duration can be judged only with the lifetime. */
function leadCut({ setup }: Played): Warning | undefined {
  const { renewBefore } = setup.settings;
  const mostMs = leadShares.longest * believedLifeMs(setup);
  if (renewBefore?.kind !== 'duration' || renewBefore.durationMs <= mostMs) return undefined;
  const is = `session.renewBefore is ${formatDuration(renewBefore.durationMs)}, more than half of the session's life`;
  return [`${is}: sessions are renewed ${seconds(mostMs)} before they end`];
}

function leadTooShort({ figures: { leadTimeShort: short } }: Played): Warning | undefined {
  const remedy = 'raise session.renewBefore, lower gateway.timeout, or ask the bank for longer sessions';
  return short && [`${remedy}: two attempts take ${seconds(short.neededMs)}, and the lead time is`, short.leadMs];
}

/** Sessions that are too short, or renewed too often, to last from the end of the quiet hours to the next ones. */
function quietHoursNotKept({ setup, figures }: Played): Warning | undefined {
  const { quietHours, renewEveryMs = Infinity } = setup.settings;
  if (quietHours === undefined || figures.outsideQuietHours === 0) return undefined;
  const betweenMs = DAY_MS - new DailyWindow(quietHours).lengthMs;
  const lifeMs = believedLifeMs(setup);
  const leadMs = leadShareOf(lifeMs, setup.settings) * lifeMs;
  const leastMs = betweenMs + MAX_SPREAD * leadMs + AIM_MS;
  const by = 'sessions are also renewed outside session.quietHours';
  if (lifeMs < leastMs) {
    const least = seconds(10 * MINUTE_MS * Math.ceil(leastMs / (10 * MINUTE_MS)));
    return [
      `${by}: with a lead time of ${seconds(leadMs)} they have to live for ${least}; leave session.quietHours out, or ask the bank for longer ones`,
    ];
  }
  return renewEveryMs < betweenMs
    ? [`${by}: session.renewEvery (${formatDuration(renewEveryMs)}) is too short for that; leave one of the two out`]
    : undefined;
}

function sessionMissing({ figures: { sessions, withoutSessionMs, pastMarginMs } }: Played): Warning | undefined {
  if (sessions === 0) return ['every create call failed: there never was a session'];
  if (withoutSessionMs > 0) return ['there was no session for', withoutSessionMs];
  return pastMarginMs > 0 ? ['sessions were handed out past their margin for', pastMarginMs] : undefined;
}

/** No lifetime beyond `session.longestLifetime` is believed. */
const believedLifeMs = ({ settings, behaviour }: SimulationSetup): number =>
  Math.min(behaviour.lifetimeMs, settings.longestLifetimeMs);

/** In whole days or hours. */
function roundedUp(durationMs: number): string {
  const stepMs = durationMs > DAY_MS ? DAY_MS : HOUR_MS;
  return formatDuration(Math.ceil(durationMs / stepMs) * stepMs);
}
