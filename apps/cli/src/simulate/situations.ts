import { formatDuration } from '#libs/clock';
import { longestWindowMs } from '#libs/session';
import { failsByChance } from './chance.js';
import type { SimulationSetup } from './simulation.js';
import { roundedUp } from './spans.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Of the other runs of one run together, with a call for each lifetime and those that fail: so many take about a second. */
const CALLS_OF_OTHERS = 1_000;
const FEWEST_OTHERS = 4;
const MAX_OTHERS = 9;
/** A run of more is not played again with another seed alone: a shorter one shows as much. */
export const MAX_LIFETIMES_TO_REPEAT = 200;
/** Of a budget, in a run without an outage. */
const WINDOWS_OF_CHANCE = 3;
const MAX_SEED = 2 ** 32;
/** Beyond those of the other runs. */
const FURTHER_SEEDS = [100, 200];

/**
 * The same with other seeds, and with the outage at other moments: when half of a window of the budget has passed, and
 * when more than a whole one has, for what the start has left of the budget decides how often an outage may be asked.
 * Each is one that the options repeat. None where nothing happens that chance could decide.
 */
export function otherRuns(setup: SimulationSetup): readonly SimulationSetup[] {
  const { outageMs, lifetimeMs, failureShare } = setup.behaviour;
  if (outageMs === 0 && !failsByChance(setup)) return [];
  const lengthsMs = outageMs === 0 ? lengthsWithoutOutage(setup) : lengthsWithOutage(setup);
  const averageMs = lengthsMs.reduce((sum, lengthMs) => sum + lengthMs, 0) / lengthsMs.length;
  const fitting = Math.floor((CALLS_OF_OTHERS * (1 - failureShare) * lifetimeMs) / averageMs);
  const count = Math.min(MAX_OTHERS, Math.max(FEWEST_OTHERS, fitting));
  return Array.from({ length: count }, (_, index) => ({
    ...setup,
    durationMs: lengthsMs[index % lengthsMs.length] ?? setup.durationMs,
    seed: (setup.seed + index + 1) % MAX_SEED,
  }));
}

/** Again as many, twice, for what chance has spared in those: where another seed is another run. */
export function furtherRuns(setup: SimulationSetup): readonly SimulationSetup[] {
  if (!failsByChance(setup)) return [];
  return FURTHER_SEEDS.flatMap((shift) => otherRuns({ ...setup, seed: (setup.seed + shift) % MAX_SEED }));
}

function lengthsWithOutage(setup: SimulationSetup): readonly number[] {
  const { outageMs, lifetimeMs } = setup.behaviour;
  // It begins after half of the run: what is left has to hold it, and the pause in which it ends.
  const leastMs = 2 * (outageMs + lifetimeMs) + HOUR_MS;
  const windowMs = Math.min(DAY_MS, longestWindowMs(setup.settings.budget));
  const [halfMs, wholeMs] = [Math.max(windowMs, leastMs), Math.max(2.5 * windowMs, leastMs + 4 * lifetimeMs)];
  const own = isRepeated(setup) ? [setup.durationMs] : [];
  return [roundedUp(halfMs), roundedUp(wholeMs), ...own];
}

/** Also through several windows of the budget: by chance one of them takes more than the first. */
function lengthsWithoutOutage(setup: SimulationSetup): readonly number[] {
  const mostMs = MAX_LIFETIMES_TO_REPEAT * setup.behaviour.lifetimeMs;
  const windowsMs = WINDOWS_OF_CHANCE * Math.min(DAY_MS, longestWindowMs(setup.settings.budget));
  const longMs = Math.ceil(Math.min(mostMs, Math.max(windowsMs, setup.durationMs)) / MINUTE_MS) * MINUTE_MS;
  return isRepeated(setup) ? [...new Set([longMs, setup.durationMs])] : [mostMs];
}

export const isRepeated = ({ durationMs, behaviour }: SimulationSetup): boolean =>
  durationMs <= MAX_LIFETIMES_TO_REPEAT * behaviour.lifetimeMs;

/** What repeats a run. @param merchant where it is one of several */
export const optionsOf = (
  { durationMs, seed }: Pick<SimulationSetup, 'durationMs' | 'seed'>,
  merchant?: string,
): string =>
  `--for ${formatDuration(durationMs)} --seed ${seed}${merchant === undefined ? '' : ` --merchant ${merchant}`}`;
