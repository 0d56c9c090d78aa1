import { type DailyTimes, formatDuration } from '#libs/clock';
import type { CallFigures, ScheduleFigures, SumOfMerchants } from './figures.js';
import { inWindow, seconds } from './spans.js';
import { nightLines, type RenewalDay } from './timeline.js';

const HOURS_OF_A_DAY = 24;
/** In what follows an outage, less than this is not worth reporting: it is a look or two of the replicas. */
const WORTH_TELLING_MS = 5_000;

/** A merchant as it is printed. */
export interface PlayedMerchant extends ScheduleFigures {
  readonly merchant: string;
  readonly lifetimeMs: number;
  /** Whether the options left the lifetime out. */
  readonly isFallback: boolean;
  readonly quietHours?: DailyTimes;
  readonly days?: readonly RenewalDay[];
}

export function linesOf(played: PlayedMerchant): readonly string[] {
  const { merchant, lifetimeMs, isFallback, budget, worstRemainingMs, quietHours, days = [] } = played;
  const isAtNoCost = played.budgetRefusals > 0 && played.withoutSessionMs + played.pastMarginMs === 0;
  const used = budget.map((window) => `${window.used} of ${inWindow(window)}`).join(', ');
  return [
    `${merchant}, lifetime ${formatDuration(lifetimeMs)}${isFallback ? ' (session.fallbackLifetime)' : ''}`,
    callsLine(played),
    `  budget           at most ${used} used, renewals held up: ${played.budgetRefusals}${isAtNoCost ? ', at no cost: each session was replaced in time' : ''}`,
    failedLine(played),
    `  worst remaining  ${worstRemaining(worstRemainingMs)}`,
    `  past the margin  ${seconds(played.pastMarginMs)}`,
    `  without session  ${seconds(played.withoutSessionMs)}${whenOf(played)}${afterOutage(played)}`,
    ...(quietHours === undefined ? [] : nightLines(days, quietHours)),
  ];
}

export function linesOfSum(sum: SumOfMerchants): readonly string[] {
  const counted = (count: number): string => `${count} ${count === 1 ? 'merchant' : 'merchants'}`;
  const longest = sum.withGap === 1 ? `for ${seconds(sum.longestGapMs)}` : `at most ${seconds(sum.longestGapMs)} each`;
  return [
    `all ${sum.merchants} merchants`,
    callsLine(sum),
    `  budget           ${sum.heldUp === 0 ? 'no renewals held up' : `renewals of ${counted(sum.heldUp)} held up`}`,
    failedLine(sum),
    `  without session  ${sum.withGap === 0 ? 'none' : `${counted(sum.withGap)}, ${longest}`}`,
  ];
}

function worstRemaining(ms: number | undefined): string {
  if (ms === undefined) return 'no session was replaced';
  return ms < 0 ? `none: the next one came ${seconds(-ms)} after the end` : seconds(ms);
}

/** Banks count by the day, also where a run is shorter or longer than that. */
function callsLine({ createCalls, createCallsPerHour, mostInAnHour }: CallFigures): string {
  const calls = HOURS_OF_A_DAY * createCallsPerHour;
  // A single call more is much if there are few.
  const aDay = String(Number(calls.toFixed(calls < 10 ? 1 : 0)));
  const average = aDay === String(createCalls) ? '' : `: ${aDay} a day`;
  return `  create calls     ${createCalls}${average}, at most ${mostInAnHour} in an hour`;
}

function failedLine({ failures }: Pick<ScheduleFigures, 'failures'>): string {
  const kinds = Object.entries(failures).map(([kind, count]) => `${count} ${kind}`);
  return `  failed           ${kinds.join(', ') || 'none'}`;
}

/** As time from the start: the first day is a calendar day only with quiet hours. */
function whenOf({ gaps, longestGap: longest }: PlayedMerchant): string {
  if (longest === undefined) return '';
  const begins = `${seconds(longest.startsAfterMs)} after the start`;
  return gaps === 1 ? `, ${begins}` : ` in ${gaps} gaps, the longest (${seconds(longest.gapMs)}) ${begins}`;
}

function afterOutage({ afterOutage: after, withoutSessionMs }: PlayedMerchant): string {
  if (after === undefined || after.gapMs < WORTH_TELLING_MS) return '';
  const part = seconds(after.gapMs);
  return `; ${part === seconds(withoutSessionMs) ? 'all' : part} of it after the outage`;
}
