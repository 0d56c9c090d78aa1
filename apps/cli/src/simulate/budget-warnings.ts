import { formatDuration } from '#libs/clock';
import { budgetShortfall, callsOnSchedule } from '#libs/session';
import { isHarmless, type WindowFigures } from './figures.js';
import type { Member } from './judged.js';
import { believedLifeMs } from './needed-lead.js';
import type { SimulationSetup } from './simulation.js';
import { tooSmallOf, withNoneToSpare } from './spare-calls.js';
import { hours, inWindow } from './spans.js';
import type { Wording } from './wording.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A budget that the schedule exceeds, or leaves no call to spare of. */
export function tooSmallBudgetWarnings({ setup, figures }: Member): readonly Wording[] {
  const tooSmall = tooSmallOf(figures);
  if (tooSmall !== undefined) return [tooSmallBudgetWarning(tooSmall, { setup, figures })];
  const bare = withNoneToSpare(figures, setup);
  if (bare === undefined) return [];
  return [
    [
      `${noCallToSpare(bare, setup)}. A call that fails may cost a session. ${ofRenewEvery(bare, setup)}${askFor(setup, 'whether it allows more')}`,
    ],
  ];
}

const ALLOW_SO_MANY = 'whether it expects so many before you allow them';

function tooSmallBudgetWarning(window: WindowFigures, { setup, figures }: Member): Wording {
  if (setup.durationMs >= window.perMs && isHarmless(figures)) {
    const cost = figures.budgetRefusals === 0 ? 'no renewal was held up' : 'no session ended before the next one came';
    const inThisRun = `In this run that cost nothing, for ${cost}; a call that fails may cost a session`;
    return [
      `${noCallToSpare(window, setup)}. ${inThisRun}. ${ofRenewEvery(window, setup)}${askFor(setup, ALLOW_SO_MANY)}`,
    ];
  }
  const life = formatDuration(setup.behaviour.lifetimeMs);
  const when = figures.budgetRefusals > 0 ? 'was spent' : 'will not last';
  return [
    `the budget of create calls ${when}: renewing sessions of ${life} takes up to ${callsIn(window.needed, window)}, ` +
      `and session.budget allows ${inWindow(window)}. ${ofRenewEvery(window, setup)}${askFor(setup, ALLOW_SO_MANY)}`,
  ];
}

/** For when renewals come more often than the life of a session requires. */
function ofRenewEvery({ needed, perMs }: WindowFigures, setup: SimulationSetup): string {
  const { renewEveryMs } = setup.settings;
  const without = callsOnSchedule(believedLifeMs(setup), { ...setup.settings, renewEveryMs: undefined }, perMs);
  if (renewEveryMs === undefined || without >= needed) return '';
  return `Without session.renewEvery (${formatDuration(renewEveryMs)}) it takes up to ${without}. `;
}

function noCallToSpare(window: WindowFigures, { behaviour }: SimulationSetup): string {
  const takes = `renewing sessions of ${formatDuration(behaviour.lifetimeMs)} takes up to ${callsIn(window.needed, window)}`;
  const short = window.needed - window.calls;
  const lack = short > 0 ? `is ${short} ${short === 1 ? 'call' : 'calls'} too small` : 'has no call to spare';
  return `session.budget ${lack}: ${takes}, and it allows ${inWindow(window)}`;
}

const callsIn = (calls: number, { perMs }: WindowFigures): string =>
  `${calls} ${calls === 1 ? 'call' : 'calls'} in ${formatDuration(perMs)}`;

/** For a bank that allows no more calls: it may give longer sessions. */
function askFor(setup: SimulationSetup, calls: string): string {
  const lifetimeMs = carriedLifeMs(setup);
  if (lifetimeMs === undefined) return `Ask the bank ${calls}`;
  const life = lifetimeMs < HOUR_MS ? formatDuration(lifetimeMs) : hours(lifetimeMs);
  return `It is enough for sessions of ${life} or longer, with a call to spare: ask the bank for these, or ${calls}`;
}

/** The shortest of those that are longer that the budget carries with a call to spare; undefined if it carries none that is believed. */
function carriedLifeMs(setup: SimulationSetup): number | undefined {
  const { settings } = setup;
  const budget = settings.budget.map(({ calls, perMs }) => ({ calls: calls - 1, perMs }));
  const longestMs = settings.longestLifetimeMs;
  for (let lifeMs = nextRound(believedLifeMs(setup)); lifeMs <= longestMs; lifeMs = nextRound(lifeMs)) {
    if (budgetShortfall(lifeMs, { ...settings, budget }) === undefined) return lifeMs;
  }
  return undefined;
}

/** Lengths that a person would ask for: in steps of a minute and of ten. */
function nextRound(lifeMs: number): number {
  const stepMs = lifeMs < HOUR_MS ? MINUTE_MS : 10 * MINUTE_MS;
  return (Math.floor(lifeMs / stepMs) + 1) * stepMs;
}
