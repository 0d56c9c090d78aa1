import { type DailyTimes, formatDuration } from '#libs/clock';
import { isHarmless, type ScheduleFigures } from './figures.js';
import type { RenewalDay } from './renewal-days.js';
import type { ReadMoment } from './hardest-nights.js';
import { optionsOf } from './situations.js';
import { callsADay, inWindow, partOf, seconds, WORTH_TELLING_MS } from './spans.js';
import { spanText } from './wording.js';

/** A month of nights; `--json` has all of them. */
const MAX_SHOWN_DAYS = 31;
/**
 * At first, the calls of an outage are closer together than this; those of a schedule with quiet hours are hours apart.
 */
const CLOSE_MINUTES = 10;

/** Nothing else is known about the lifetime, because the gateway is not asked. */
export const ASSUMED = ' (session.fallbackLifetime)';
export const ASSUMED_LIFETIMES =
  'assumed      session.fallbackLifetime as the life of every session, on which all of this rests: give --lifetime where the gateway says otherwise, as `doctor --create-session` shows';

/** The same run with other seeds, and with the outage at other moments. */
export interface ShownOthers {
  readonly runs: number;
  /** Whether all of them are shorter than this one. */
  readonly areShorter: boolean;
  readonly leastWithoutSessionMs: number;
  readonly mostWithoutSessionMs: number;
  readonly leastPastMarginMs: number;
  readonly mostPastMarginMs: number;
  /** The hardest-hit of them, if any is hit at all. */
  readonly worst?: { readonly durationMs: number; readonly seed: number; readonly outageBegan?: ReadMoment };
}

/** A merchant as it is printed. */
export interface PlayedMerchant extends ScheduleFigures {
  readonly merchant: string;
  readonly lifetimeMs: number;
  /** Whether the options left the lifetime out. */
  readonly isFallback: boolean;
  readonly quietHours?: DailyTimes;
  readonly days?: readonly RenewalDay[];
  /** When the outage began, by the clocks of the quiet hours. */
  readonly outageBegan?: ReadMoment;
  readonly otherRuns?: ShownOthers;
}

export function linesOf(played: PlayedMerchant): readonly string[] {
  const { merchant, lifetimeMs, isFallback, budget } = played;
  const used = budget.map((window) => `${window.used} of ${inWindow(window)}`).join(', ');
  return [
    `${merchant}, lifetime ${formatDuration(lifetimeMs)}${isFallback ? ASSUMED : ''}`,
    callsLine(played),
    `  budget           at most ${used} used, renewals held up: ${played.budgetRefusals}${costOfWaiting(played)}`,
    failedLine(played.failures),
    `  worst remaining  ${remainingText(played)}`,
    `  past the margin  ${seconds(played.pastMarginMs)}`,
    `  without session  ${seconds(played.withoutSessionMs)}${whenOf(played)}${afterOutage(played)}${nightOf(played)}`,
    ...othersLineOf(played),
    ...nightLinesOf(played),
  ];
}

/**
 * What became of renewals that were held up, and why they were.
 * @param alike one merchant, or several that are reported together
 */
export function costOfWaiting(...alike: readonly ScheduleFigures[]): string {
  if (alike.every(({ budgetRefusals }) => budgetRefusals === 0)) return '';
  if (alike.every(isHarmless)) return ', at no cost: each session was replaced in time';
  // A budget that is too small for the schedule has a warning of its own.
  const windows = alike.flatMap(({ budget }) => budget);
  if (windows.some(({ needed, calls }) => needed >= calls)) return '';
  const spent = windows
    .filter(({ used, calls }) => used >= calls)
    .map((window) => `${window.needed} of ${inWindow(window)}`);
  const needs = spent.length === 0 ? '' : `. The schedule alone takes ${[...new Set(spent)].join(', and ')}`;
  const isInGap = alike.some(({ afterOutage: after }) => (after?.byBudgetMs ?? 0) > 0);
  const meaning = isInGap
    ? 'A part of the time without a session comes from calls that failed and spent the budget'
    : 'Calls that failed had spent the budget, which is there to limit them';
  return `. ${meaning}${needs}`;
}

export function remainingText({ worstRemainingMs: remainingMs }: ScheduleFigures): string {
  if (remainingMs === undefined) return 'no session was replaced';
  const hasJustEnded = remainingMs < 0 && Math.round(remainingMs / 1_000) === 0;
  return hasJustEnded ? 'none: it had ended less than a second before' : seconds(remainingMs);
}

export const callsLine = (
  played: Pick<ScheduleFigures, 'createCalls' | 'createCallsPerHour' | 'mostInAnHour'>,
): string => `  create calls     ${played.createCalls}${ofRun(played)}, at most ${played.mostInAnHour} in an hour`;

function ofRun(played: Pick<ScheduleFigures, 'createCalls' | 'createCallsPerHour'>): string {
  const aDay = perDay(played);
  return aDay === String(played.createCalls) ? '' : `: ${aDay} a day`;
}

const HOURS_OF_A_DAY = 24;

/** Banks count by the day, also where a run is shorter or longer than that. */
export const perDay = ({ createCallsPerHour }: Pick<ScheduleFigures, 'createCallsPerHour'>): string =>
  callsADay(HOURS_OF_A_DAY * createCallsPerHour);

export function failedLine(failures: ScheduleFigures['failures']): string {
  const kinds = Object.entries(failures).map(([kind, count]) => `${count} ${kind}`);
  return `  failed           ${kinds.join(', ') || 'none'}`;
}

/** As time from the start: the first day is a calendar day only with quiet hours. */
function whenOf({ gaps, longestGap: longest }: ScheduleFigures): string {
  if (longest === undefined) return '';
  const begins = `${seconds(longest.startsAfterMs)} after the start`;
  return gaps === 1 ? `, ${begins}` : ` in ${gaps} gaps, the longest (${seconds(longest.gapMs)}) ${begins}`;
}

function afterOutage({ afterOutage: after, withoutSessionMs }: ScheduleFigures): string {
  if (after === undefined || after.gapMs < WORTH_TELLING_MS) return '';
  return `; ${partOf(after.gapMs, withoutSessionMs)} of it after the outage`;
}

const whereItBegins = ({ day, time }: ReadMoment): string => `, where the outage begins on ${day} at ${time}`;

const nightOf = ({ outageBegan }: PlayedMerchant): string =>
  outageBegan === undefined ? '' : whereItBegins(outageBegan);

/** @param merchant given if it is one of several */
export function othersLineOf(played: PlayedMerchant, merchant?: string): readonly string[] {
  const { otherRuns: others } = played;
  if (others === undefined) return [];
  const line = `  other runs       ${merchant === undefined ? '' : `of ${merchant}: `}${lostInOthers(others)}`;
  if (isTheLongest(played, others)) return [`${line}; this run is the longest`];
  if (others.worst === undefined) return [line];
  const { durationMs, seed, outageBegan } = others.worst;
  const where = outageBegan === undefined ? '' : whereItBegins(outageBegan);
  return [`${line}; the longest with ${optionsOf({ durationMs, seed }, merchant)}${where}`];
}

/** By what that line reports: the gaps, or the time past the margin if there are none. */
function isTheLongest({ withoutSessionMs, pastMarginMs }: PlayedMerchant, others: ShownOthers): boolean {
  const isOfGaps = withoutSessionMs > 0 || others.mostWithoutSessionMs > 0;
  const [ownMs, mostMs] = isOfGaps
    ? [withoutSessionMs, others.mostWithoutSessionMs]
    : [pastMarginMs, others.mostPastMarginMs];
  return ownMs > 0 && ownMs >= mostMs;
}

/** Every gap begins past the margin, so the time past the margin is reported only if there is no gap. */
function lostInOthers({ runs: count, areShorter, worst, ...lost }: ShownOthers): string {
  const runs = areShorter ? `${count} shorter ones` : `${count}`;
  const gap = spanText({ leastMs: lost.leastWithoutSessionMs, mostMs: lost.mostWithoutSessionMs });
  if (lost.mostWithoutSessionMs > 0) return `${gap} in ${runs}`;
  const none = `${gap} in each of ${runs}`;
  const past = spanText({ leastMs: lost.leastPastMarginMs, mostMs: lost.mostPastMarginMs });
  return worst === undefined ? none : `${none}, past the margin ${past}`;
}

export function nightLinesOf({ quietHours, days = [] }: PlayedMerchant, whose = ''): readonly string[] {
  if (quietHours === undefined) return [];
  const calls = days.flatMap((day) => day.calls);
  const quiet = calls.filter(({ isQuiet }) => isQuiet).length;
  const more = days.length - MAX_SHOWN_DAYS;
  return [
    `  quiet hours      ${quiet} of the calls in them, ${calls.length - quiet} outside; times in ${quietHours.timeZone}${whose}`,
    ...days.slice(0, MAX_SHOWN_DAYS).map((day) => `    ${day.day}     ${timesOf(day).join(' ')}`),
    ...(more > 0 ? [`    and ${more} days more`] : []),
  ];
}

/**
 * Failing calls come by the dozen, so calls close together are reported together. Those outside the quiet hours are in
 * brackets.
 */
function timesOf({ calls }: RenewalDay): readonly string[] {
  const groups: CallsTogether[] = [];
  for (const { time, isQuiet } of calls) {
    const group = groups.at(-1);
    const sinceLast = group === undefined ? 0 : minuteOf(time) - minuteOf(group.last);
    if (group?.isQuiet === isQuiet && sinceLast >= 0 && sinceLast <= CLOSE_MINUTES) {
      group.last = time;
      group.count += 1;
    } else groups.push({ first: time, last: time, count: 1, isQuiet, isAgain: sinceLast < 0 });
  }
  return groups.map(told);
}

interface CallsTogether {
  readonly first: string;
  last: string;
  count: number;
  readonly isQuiet: boolean;
  /** Whether the clocks were set back before it. */
  readonly isAgain: boolean;
}

function told({ first, last, count, isQuiet, isAgain }: CallsTogether): string {
  const times = first === last ? first : `${first}–${last}`;
  const calls = count === 1 ? '' : `${count} calls`;
  const inside = count === 1 ? times : `${times} (${calls})`;
  const outside = count === 1 ? `(${times})` : `(${times}, ${calls})`;
  return `${isAgain ? 'clocks back: ' : ''}${isQuiet ? inside : outside}`;
}

function minuteOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return 60 * hours + minutes;
}
