import { formatDuration } from '#libs/clock';
import { longestWindowMs } from '#libs/session';
import { failsByChance } from './chance.js';
import type { SimulationSetup } from './simulation.js';
import { roundedUp } from './spans.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/**
 * For all other runs of one run together, with a call per lifetime and those that fail: this many take about a second.
 */
const CALLS_OF_OTHERS = 1_000;
const FEWEST_OTHERS = 4;
const MAX_OTHERS = 9;
/** A run with more is not replayed with just another seed: a shorter one shows as much. */
export const MAX_LIFETIMES_TO_REPEAT = 200;
/** How many windows of the budget to play in a run without an outage. */
const WINDOWS_OF_CHANCE = 3;
const MAX_SEED = 2 ** 32;
/** Offsets beyond the seeds of the other runs. */
const FURTHER_SEEDS = [100, 200];

/**
 * The same run with other seeds, and with the outage at other moments: after half of a window of the budget, and after
 * more than a whole one, because what the start has left of the budget decides how often calls can be made in an
 * outage. The options can repeat each of these runs. None if nothing happens that chance could decide.
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

/** As many again, twice, for what chance has spared in those; only if another seed makes a different run. */
export function furtherRuns(setup: SimulationSetup): readonly SimulationSetup[] {
  if (!failsByChance(setup)) return [];
  return FURTHER_SEEDS.flatMap((shift) => otherRuns({ ...setup, seed: (setup.seed + shift) % MAX_SEED }));
}

function lengthsWithOutage(setup: SimulationSetup): readonly number[] {
  const { outageMs, lifetimeMs } = setup.behaviour;
  // The outage begins after half of the run: the rest has to hold it, and the pause in which it ends.
  const leastMs = 2 * (outageMs + lifetimeMs) + HOUR_MS;
  const windowMs = Math.min(DAY_MS, longestWindowMs(setup.settings.budget));
  const [halfMs, wholeMs] = [Math.max(windowMs, leastMs), Math.max(2.5 * windowMs, leastMs + 4 * lifetimeMs)];
  const own = isRepeated(setup) ? [setup.durationMs] : [];
  return [roundedUp(halfMs), roundedUp(wholeMs), ...own];
}

/** Also runs through several windows of the budget: by chance, one of them takes more than the first. */
function lengthsWithoutOutage(setup: SimulationSetup): readonly number[] {
  const mostMs = MAX_LIFETIMES_TO_REPEAT * setup.behaviour.lifetimeMs;
  const windowsMs = WINDOWS_OF_CHANCE * Math.min(DAY_MS, longestWindowMs(setup.settings.budget));
  const longMs = Math.ceil(Math.min(mostMs, Math.max(windowsMs, setup.durationMs)) / MINUTE_MS) * MINUTE_MS;
  return isRepeated(setup) ? [...new Set([longMs, setup.durationMs])] : [mostMs];
}

export const isRepeated = ({ durationMs, behaviour }: SimulationSetup): boolean =>
  durationMs <= MAX_LIFETIMES_TO_REPEAT * behaviour.lifetimeMs;

/**
 * The options that repeat a run.
 * @param merchant given if it is one of several
 */
export const optionsOf = (
  { durationMs, seed }: Pick<SimulationSetup, 'durationMs' | 'seed'>,
  merchant?: string,
): string =>
  `--for ${formatDuration(durationMs)} --seed ${seed}${merchant === undefined ? '' : ` --merchant ${merchant}`}`;
