import { type CreateCallBudget, type CreateCallWindow, longestOutagePauseMs } from '#libs/session';
import { failsByChance } from './chance.js';
import { type Change, changed } from './change.js';
import type { ScheduleFigures, WindowFigures } from './figures.js';
import { callsOfChance } from './needed-lead.js';
import { bridges, isBetter, leavesLess, played, type Tried, type Trials } from './trials.js';

/** What a window's `calls` can be at most. */
export const MAX_CALLS = 1_000;
/** Times the calls that the runs take. */
const AMPLER = [1, 2, 4];
/** Of the calls of a schedule without a failure, as many more, and one. */
const ROOM_SHARE = 0.2;
/** Of the calls that a window gets more, whether so few of them do as well. */
const FEWER = [0, 0.1, 0.2, 0.35, 0.5, 0.75];

/**
 * The calls that the runs take where none is refused, with some for chance, and two and four times as many: the pauses of an outage are as long as
 * the budget asks for. @param keptMs of a window that stays as it is with the changes
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

/** What is advised, without the windows and then without the calls of each that it does as well without. */
export async function inFewestCalls(trials: Trials, found: readonly Tried[]): Promise<readonly Tried[]> {
  const [own] = trials.before;
  const [best] = found;
  if (own === undefined || best === undefined) return found;
  const before = own.setup.settings.budget;
  const isAsGood = (one: Tried): boolean =>
    bridges(best)
      ? bridges(one) && tightlyRaised(one, before) <= tightlyRaised(best, before)
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

/** What is asked for has to be enough with the luck of another run; what is set is not raised for that alone. */
function tightlyRaised({ changes, tight }: Tried, before: CreateCallBudget): number {
  const raised = changes.flatMap((change) => (change.of === 'budget' ? raisedWindows(change.windows, before) : []));
  return tight.filter(({ perMs }) => raised.some((window) => window.perMs === perMs)).length;
}

/** With fewer calls more in that window, the fewest first. @param least what it has without the change */
function withFewerCalls({ changes, own }: Tried, index: number, least: number): readonly (readonly Change[])[] {
  const windows = changes.flatMap((change) => (change.of === 'budget' ? change.windows : []));
  const calls = windows[index]?.calls ?? 0;
  const needed = own.budget[index]?.needed ?? 0;
  // One that is raised has room: what the schedule takes to the last call would be asked for a second time.
  const isEnough = (fewer: number): boolean => fewer >= roomy(needed) || (fewer === least && fewer > needed);
  const candidates = [...FEWER.map((share) => Math.ceil(least + share * (calls - least))), roomy(needed)];
  return candidates
    .filter((fewer) => fewer >= least && fewer < calls && isEnough(fewer))
    .toSorted((one, other) => one - other)
    .map((fewer) => windows.map((window, at) => (at === index ? { ...window, calls: fewer } : window)))
    .map((smaller) => changes.map((change) => (change.of === 'budget' ? { ...change, windows: smaller } : change)));
}

/** For what was used, and for the schedule at worst with as many calls that fail in the outage, and some more. @param failures of an outage alone: others are as many in every run */
function callsFor(window: WindowFigures | undefined, failures: ScheduleFigures['failures'] | undefined): number {
  if (window === undefined) return 0;
  const failed = Object.values(failures ?? {}).reduce((sum, count) => sum + count, 0);
  const used = Math.max(window.used, window.needed + Math.min(failed, window.used));
  if (failures === undefined) return used + callsOfChance({ ...window, used });
  // What the schedule takes by itself leaves none for a call that fails, and some day one does.
  return failed === 0 ? roomy(used) : used + callsOfChance({ ...window, used });
}

export const roomy = (calls: number): number => Math.ceil((1 + ROOM_SHARE) * calls) + 1;

/** More calls only in the windows that make the pauses of an outage longer: in the others they would change nothing. */
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
