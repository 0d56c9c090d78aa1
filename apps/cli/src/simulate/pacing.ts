import { callsOnSchedule, type CreateCallBudget, type CreateCallWindow } from '#libs/session';
import { ampleBudgets, inFewestCalls, roomy } from './budgets.js';
import type { Change } from './change.js';
import { believedLifeMs } from './needed-lead.js';
import type { SimulationSetup } from './simulation.js';
import { bridges, type PlayedRun, type Tried, type Trials } from './trials.js';

const MINUTE_MS = 60_000;
/** Calls that fail in an outage come further apart with them, and leave more of a long window. The last is for outages of hours. */
const PACES: CreateCallBudget = [
  { calls: 8, perMs: 10 * MINUTE_MS },
  { calls: 4, perMs: 10 * MINUTE_MS },
  { calls: 4, perMs: 60 * MINUTE_MS },
];

/** As the configuration takes them. */
const MAX_WINDOWS = 4;

interface Pace {
  readonly windows: CreateCallBudget;
  readonly perMs: number;
}

/** A change, or none: the lead time that is set. */
type Lead = Extract<Change, { readonly of: 'lead' }> | undefined;

/**
 * The shortest lead that bridges the outage with fewer calls at once, and no more in any window; or else with those that it needs more.
 * @param leads from the shortest, of which `fitting` need no more calls than are allowed
 */
export async function pacedLead(
  trials: Trials,
  { leads, fitting }: { readonly leads: readonly Lead[]; readonly fitting: readonly Lead[] },
): Promise<readonly Tried[]> {
  const [own] = trials.before;
  if (own === undefined || own.setup.behaviour.outageMs === 0) return [];
  const paces = pacesFor(own);
  for (const lead of fitting) {
    const found: Tried[] = [];
    for (const { windows } of paces) {
      const one = await bridging(trials, [...listOf(lead), { of: 'budget', windows }]);
      if (one !== undefined) found.push(one);
      if (one?.tight.length === 0) break;
    }
    const [first] = found.toSorted((one, other) => one.tight.length - other.tight.length);
    if (first !== undefined) return [first];
  }
  for (const lead of leads) {
    const found: Tried[] = [];
    for (const pace of paces) found.push(...(await withMoreCalls(trials, lead, pace)));
    const [fewest] = found.toSorted((one, other) => callsOf(one) - callsOf(other));
    if (fewest !== undefined) return [fewest];
  }
  return [];
}

const callsOf = ({ changes }: Tried): number =>
  changes
    .flatMap((change) => (change.of === 'budget' ? change.windows : []))
    .reduce((sum, { calls }) => sum + calls, 0);

const listOf = (lead: Lead): readonly Change[] => (lead === undefined ? [] : [lead]);

/** No lead that is shorter than the outage bridges it. */
export const isLongEnough = ({ setup }: PlayedRun, share: number): boolean =>
  share * believedLifeMs(setup) >= setup.behaviour.outageMs;

async function withMoreCalls(trials: Trials, lead: Lead, { windows, perMs }: Pace): Promise<readonly Tried[]> {
  const changes: readonly Change[] = [...listOf(lead), { of: 'budget', windows }];
  for (const budget of await ampleBudgets(trials, changes, perMs)) {
    const found = await bridging(trials, [...listOf(lead), budget]);
    if (found !== undefined) return inFewestCalls(trials, [found]);
  }
  return [];
}

async function bridging(trials: Trials, changes: readonly Change[]): Promise<Tried | undefined> {
  if (!bridges(await trials.look(changes))) return undefined;
  const proved = await trials.prove(changes);
  return bridges(proved) && !trials.isNewlyShort(proved) ? proved : undefined;
}

/** In place of a window of the same length, or besides; none that the windows which are set make needless. */
function pacesFor({ setup }: PlayedRun): readonly Pace[] {
  const { budget } = setup.settings;
  if (budget.length >= MAX_WINDOWS) return [];
  return PACES.filter((pace) => isSlower(pace, budget) && pace.calls >= roomy(neededIn(pace, setup))).map((pace) => ({
    windows: budget.some(({ perMs }) => perMs === pace.perMs)
      ? budget.map((window) => (window.perMs === pace.perMs ? pace : window))
      : [...budget, pace],
    perMs: pace.perMs,
  }));
}

const isSlower = (pace: CreateCallWindow, budget: CreateCallBudget): boolean =>
  budget.every(({ calls, perMs }) => calls > pace.calls || perMs < pace.perMs);

const neededIn = ({ perMs }: CreateCallWindow, setup: SimulationSetup): number =>
  callsOnSchedule(believedLifeMs(setup), setup.settings, perMs);
