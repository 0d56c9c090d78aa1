import { callsOnSchedule, type CreateCallBudget, type CreateCallWindow } from '#libs/session';
import { ampleBudgets, inFewestCalls, roomy } from './budgets.js';
import { failsByChance } from './chance.js';
import { type Change, changed } from './change.js';
import { believedLifeMs, currentLeadShare, heldUpForMs, leastLeftMs, mostCallsIn } from './needed-lead.js';
import type { SimulationSetup } from './simulation.js';
import { bridges, bridgesForSure, type PlayedRun, type Tried, type Trials } from './trials.js';

const MINUTE_MS = 60_000;
/**
 * With these, calls that fail in an outage are further apart and leave more of a long window. The last one is for
 * outages that last hours.
 */
const PACES: CreateCallBudget = [
  { calls: 4, perMs: 10 * MINUTE_MS },
  { calls: 8, perMs: 10 * MINUTE_MS },
  { calls: 4, perMs: 60 * MINUTE_MS },
];
/** For a budget that leaves next to nothing for calls that fail: a single call in one of these. */
const SPARING_PACES_MS = [10, 15, 20, 30, 45, 60, 90, 120, 180, 240].map((minutes) => minutes * MINUTE_MS);
/** The most windows that the configuration accepts. */
const MAX_WINDOWS = 4;

/** A change of lead time, or undefined to keep the configured one. */
export type Lead = Extract<Change, { readonly of: 'lead' }> | undefined;

/** Fewer calls at once, combined with each of these leads. */
export function pacedChanges({ setup }: PlayedRun, leads: readonly Lead[]): readonly (readonly Change[])[] {
  const paces = pacesFor(setup);
  return leads.flatMap((lead) => paces.map(({ budget }) => [...listOf(lead), budget]));
}

/**
 * One call at a time, so far apart that those that fail in the outage fit into what the schedule leaves of the budget,
 * with each of these leads that is long enough for that. None if it leaves enough for the usual paces.
 */
export function sparingChanges({ setup }: PlayedRun, leads: readonly Lead[]): readonly (readonly Change[])[] {
  return leads.flatMap((lead) => {
    const run = changed(setup, listOf(lead));
    const paces = sparingPacesFor(run);
    const within = (calls: number): CreateCallWindow | undefined => paces.find((pace) => failingIn(pace, run) <= calls);
    // A call over is worth a longer pace.
    const pace = within(spareIn(run) - 1) ?? within(spareIn(run));
    return pace === undefined ? [] : pacedBy(pace, setup.settings.budget, lead);
  });
}

/** The same for a budget that leaves too little even for these: with as many calls as it takes, and one over. */
export function sparingWithMoreCalls({ setup }: PlayedRun, leads: readonly Lead[]): readonly (readonly Change[])[] {
  return leads.flatMap((lead) => {
    const run = changed(setup, listOf(lead));
    const [pace] = sparingPacesFor(run).toSorted((one, other) => failingIn(one, run) - failingIn(other, run));
    if (pace === undefined) return [];
    const limiting = limitingIn(run);
    const windows = setup.settings.budget.map((window) => {
      const needed = neededIn(window, run);
      const calls = Math.max(window.calls, roomy(needed), needed + failingIn(pace, run) + 1);
      return limiting.includes(window) ? { ...window, calls } : window;
    });
    return pacedBy(pace, windows, lead);
  });
}

/** The pace that was found, with a longer lead that is certain to bridge what was only seen to be bridged so far. */
export async function withSurerLead(
  trials: Trials,
  found: readonly Tried[],
  leads: readonly Lead[],
): Promise<readonly Tried[]> {
  const [own] = trials.before;
  const [first] = found;
  const pace = first?.changes.find(({ of }) => of === 'budget');
  if (own === undefined || first === undefined || pace === undefined) return [];
  if (found.some(bridgesForSure) || failsByChance(own.setup)) return [];
  const shareOf = (changes: readonly Change[]): number => currentLeadShare(changed(own.setup, changes));
  const longer = leads.map((lead) => [...listOf(lead), pace]).filter((one) => shareOf(one) > shareOf(first.changes));
  for (const changes of longer) {
    if (!bridgesForSure(await trials.look(changes))) continue;
    const proved = await trials.prove(changes);
    if (bridgesForSure(proved) && !trials.isNewlyShort(proved)) return [proved];
  }
  return [];
}

const pacedBy = (pace: CreateCallWindow, windows: CreateCallBudget, lead: Lead): readonly (readonly Change[])[] =>
  setIn(windows, pace).map(({ budget }) => [...listOf(lead), budget]);

/** The shortest first; none if the calls that the budget or one of the usual paces lets fail fit into what is left. */
function sparingPacesFor(run: SimulationSetup): readonly CreateCallWindow[] {
  const { outageMs } = run.behaviour;
  const spare = spareIn(run);
  if ([run.settings.budget, ...PACES.map((pace) => [pace])].some((one) => mostCallsIn(outageMs, one) <= spare))
    return [];
  return SPARING_PACES_MS.map((perMs) => ({ calls: 1, perMs })).filter(
    (pace) => heldUpForMs(outageMs, pace) <= leastLeftMs(run) && isSlower(pace, run.settings.budget),
  );
}

const failingIn = (pace: CreateCallWindow, { behaviour }: SimulationSetup): number =>
  mostCallsIn(behaviour.outageMs, [pace]);

/** The windows that are not over before the session ends, whatever is spent of them. */
const limitingIn = (run: SimulationSetup): CreateCallBudget =>
  run.settings.budget.filter(({ perMs }) => perMs > leastLeftMs(run));

/** The calls that the schedule leaves. */
const spareIn = (run: SimulationSetup): number =>
  Math.min(...limitingIn(run).map((window) => window.calls - neededIn(window, run)));

/**
 * The same with as many additional calls in longer windows as it takes to bridge the outage: the fewest, with the first
 * lead that does.
 */
export async function pacedWithMoreCalls(trials: Trials, leads: readonly Lead[]): Promise<readonly Tried[]> {
  const [own] = trials.before;
  if (own === undefined) return [];
  const paces = pacesFor(own.setup);
  for (const lead of leads) {
    const found: Tried[] = [];
    for (const pace of paces) found.push(...(await withMoreCalls(trials, lead, pace)));
    const [fewest] = found.toSorted((one, other) => callsOf(one) - callsOf(other));
    if (fewest !== undefined) return [fewest];
  }
  return [];
}

/** A lead that is shorter than the outage never bridges it. */
export const isLongEnough = ({ setup }: PlayedRun, share: number): boolean =>
  share * believedLifeMs(setup) >= setup.behaviour.outageMs;

const listOf = (lead: Lead): readonly Change[] => (lead === undefined ? [] : [lead]);

interface Pace {
  readonly budget: Extract<Change, { readonly of: 'budget' }>;
  readonly perMs: number;
}

async function withMoreCalls(trials: Trials, lead: Lead, { budget, perMs }: Pace): Promise<readonly Tried[]> {
  for (const ample of await ampleBudgets(trials, [...listOf(lead), budget], perMs)) {
    const changes = [...listOf(lead), { ...ample, isPaced: true } as const];
    if (!bridges(await trials.look(changes))) continue;
    const proved = await trials.prove(changes);
    if (bridges(proved) && !trials.isNewlyShort(proved)) return inFewestCalls(trials, [proved]);
  }
  return [];
}

const callsOf = ({ changes }: Tried): number =>
  changes
    .flatMap((change) => (change.of === 'budget' ? change.windows : []))
    .reduce((sum, { calls }) => sum + calls, 0);

/** In place of a window of the same length, or in addition; none that the configured windows make unnecessary. */
function pacesFor(setup: SimulationSetup): readonly Pace[] {
  const { budget } = setup.settings;
  const paces = PACES.filter((pace) => isSlower(pace, budget) && pace.calls >= roomy(neededIn(pace, setup)));
  return paces.flatMap((pace) => setIn(budget, pace));
}

/** None if there is no room for another window. */
function setIn(budget: CreateCallBudget, pace: CreateCallWindow): readonly Pace[] {
  const isSet = budget.some(({ perMs }) => perMs === pace.perMs);
  if (!isSet && budget.length >= MAX_WINDOWS) return [];
  const windows = isSet ? budget.map((window) => (window.perMs === pace.perMs ? pace : window)) : [...budget, pace];
  return [{ budget: { of: 'budget', windows, isPaced: true }, perMs: pace.perMs }];
}

const isSlower = (pace: CreateCallWindow, budget: CreateCallBudget): boolean =>
  budget.every(({ calls, perMs }) => calls > pace.calls || perMs < pace.perMs);

const neededIn = ({ perMs }: CreateCallWindow, setup: SimulationSetup): number =>
  callsOnSchedule(believedLifeMs(setup), setup.settings, perMs);
