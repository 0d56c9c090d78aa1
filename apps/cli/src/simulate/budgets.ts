import { type CreateCallBudget, type CreateCallWindow, longestOutagePauseMs } from '#libs/session';
import { failsByChance } from './chance.js';
import { type Change, changed } from './change.js';
import type { ScheduleFigures, WindowFigures } from './figures.js';
import { callsOfChance } from './needed-lead.js';
import { bridges, isBetter, leavesLess, played, type Tried, type Trials } from './trials.js';

/** The most that a window's `calls` can be. */
export const MAX_CALLS = 1_000;
/** Multiples of the calls that the runs take. */
const AMPLER = [1, 2, 4];
/** Headroom, as a share of the calls of a schedule without failures; one more call is added to it. */
const ROOM_SHARE = 0.2;
/** Shares of a window's additional calls that are tried, in case so few of them do as well. */
const FEWER = [0, 0.1, 0.2, 0.35, 0.5, 0.75];

/**
 * The calls that the runs take if none is refused, with some to spare for chance, and two and four times as many,
 * because the budget decides how long the pauses of an outage are.
 * @param keptMs the length of a window that stays as the changes set it
 */
export async function ampleBudgets(
  trials: Trials,
  changes: readonly Change[],
  keptMs?: number,
): Promise<readonly Extract<Change, { readonly of: 'budget' }>[]> {
  const [own] = trials.before;
  if (own === undefined) return [];
  const { budget } = changed(own.setup, changes).settings;
  const isKept = ({ perMs }: CreateCallWindow): boolean => perMs === keptMs;
  const unbounded: Change = {
    of: 'budget',
    windows: budget.map((window) => (isKept(window) ? window : { ...window, calls: MAX_CALLS })),
  };
  const free: ScheduleFigures[] = [];
  for (const run of trials.hardest) free.push(await played(changed(run, [...changes, unbounded])));
  const windows = budget.map((window, index) => {
    const { calls, perMs } = window;
    if (isKept(window)) return window;
    const wanted = Math.max(
      ...free.map(({ budget: used, failures }) =>
        callsFor(used[index], failsByChance(own.setup) ? undefined : failures),
      ),
    );
    const needed = Math.max(...free.map(({ budget: used }) => used[index]?.needed ?? 0));
    const isRaised = wanted > calls || needed >= calls;
    return { calls: isRaised ? Math.min(MAX_CALLS, Math.max(wanted, roomy(needed))) : calls, perMs };
  });
  return amplerBudgets(windows, budget, isKept);
}

/** The advised change, stripped of the windows and then of the calls in each that it does just as well without. */
export async function inFewestCalls(trials: Trials, found: readonly Tried[]): Promise<readonly Tried[]> {
  const [own] = trials.before;
  const [best] = found;
  if (own === undefined || best === undefined) return found;
  const before = own.setup.settings.budget;
  const isAsGood = (one: Tried): boolean =>
    bridges(best)
      ? bridges(one) && (one.isSure || !best.isSure) && tightlyRaised(one, before) <= tightlyRaised(best, before)
      : isBetter(one) && !trials.isNewlyShort(one) && !leavesLess(best, one);
  let held = best;
  for (const [index, { calls }] of before.entries()) {
    for (const changes of withFewerCalls(held, index, calls)) {
      if (!isAsGood(await trials.look(changes))) continue;
      const proved = await trials.prove(changes);
      if (!isAsGood(proved)) continue;
      held = proved;
      break;
    }
  }
  return [held];
}

/** What is asked for must suffice with another run's luck too; a window that is set is not raised for that alone. */
function tightlyRaised({ changes, tight }: Tried, before: CreateCallBudget): number {
  const raised = changes.flatMap((change) => (change.of === 'budget' ? raisedWindows(change.windows, before) : []));
  return tight.filter(({ perMs }) => raised.some((window) => window.perMs === perMs)).length;
}

/**
 * The same changes with fewer additional calls in that window, the fewest first.
 * @param least what the window has without the change
 */
function withFewerCalls({ changes, own }: Tried, index: number, least: number): readonly (readonly Change[])[] {
  const windows = changes.flatMap((change) => (change.of === 'budget' ? change.windows : []));
  const calls = windows[index]?.calls ?? 0;
  const needed = own.budget[index]?.needed ?? 0;
  // A raised window has headroom: if the schedule took its last call, it would have to be asked for a second time.
  const isEnough = (fewer: number): boolean => fewer >= roomy(needed) || (fewer === least && fewer > needed);
  const candidates = [...FEWER.map((share) => Math.ceil(least + share * (calls - least))), roomy(needed)];
  return candidates
    .filter((fewer) => fewer >= least && fewer < calls && isEnough(fewer))
    .toSorted((one, other) => one - other)
    .map((fewer) => windows.map((window, at) => (at === index ? { ...window, calls: fewer } : window)))
    .map((smaller) => changes.map((change) => (change.of === 'budget' ? { ...change, windows: smaller } : change)));
}

/**
 * Enough for what was used, and for the schedule at its worst plus as many calls as fail in the outage, with some to
 * spare.
 * @param failures only if they come from an outage alone: chance failures are as many in every run
 */
function callsFor(window: WindowFigures | undefined, failures: ScheduleFigures['failures'] | undefined): number {
  if (window === undefined) return 0;
  const failed = Object.values(failures ?? {}).reduce((sum, count) => sum + count, 0);
  const used = Math.max(window.used, window.needed + Math.min(failed, window.used));
  if (failures === undefined) return used + callsOfChance({ ...window, used });
  // The schedule's own calls leave none for a call that fails, and some day one will.
  return failed === 0 ? roomy(used) : used + callsOfChance({ ...window, used });
}

export const roomy = (calls: number): number => Math.ceil((1 + ROOM_SHARE) * calls) + 1;

/** Adds calls only to the windows that lengthen the pauses of an outage: in the others they would change nothing. */
function amplerBudgets(
  windows: CreateCallBudget,
  before: CreateCallBudget,
  isKept: (window: CreateCallWindow) => boolean,
): readonly Extract<Change, { readonly of: 'budget' }>[] {
  const shortestPauseMs = longestOutagePauseMs([]);
  const times = (factor: number): CreateCallBudget =>
    windows.map((window) =>
      !isKept(window) && longestOutagePauseMs([window]) > shortestPauseMs
        ? { ...window, calls: Math.min(MAX_CALLS, factor * window.calls) }
        : window,
    );
  const budgets = AMPLER.map(times);
  return budgets
    .filter((budget, index) => raisedWindows(budget, budgets[index - 1] ?? before).length > 0)
    .map((budget) => ({ of: 'budget', windows: budget }));
}

export const raisedWindows = (windows: CreateCallBudget, before: CreateCallBudget): readonly CreateCallWindow[] =>
  windows.filter(({ calls }, index) => calls > (before[index]?.calls ?? Infinity));

/** The calls of the windows that the bank has to allow. */
export const askedFor = ({ changes }: Tried, before: CreateCallBudget): number =>
  changes
    .flatMap((change) => (change.of === 'budget' ? raisedWindows(change.windows, before) : []))
    .reduce((sum, { calls }) => sum + calls, 0);
