import type { ScheduleFigures } from './figures.js';

/**
 * The effect of a change on the time without a session, or past the margin if there was always one, across all runs
 * that were played with it. `lengthens`: in every run; `may_lengthen`: in some; `none`: no effect in any; `mixed`: none
 * of these.
 */
export type Effect = 'bridges' | 'shortens' | 'none' | 'lengthens' | 'may_lengthen' | 'mixed';

/** What one run loses, without the change and with it. */
export interface Comparison {
  readonly wasMs: number;
  readonly isMs: number;
}

/**
 * A difference of less than a tenth may well be chance, and so may one caused by replicas looking only once a second.
 */
const NOTABLE_SHARE = 0.9;
const NOTABLE_MS = 2_000;
/** Several runs reveal smaller differences than a single one. */
const NOTABLE_SHARE_OF_ALL = 0.95;
/**
 * How many deviations the mean of the gains must lie above zero: more than chance yields in as many runs as are played.
 */
const SURE_DEVIATIONS = 1;

export function effectOf(runs: readonly Comparison[]): Effect {
  if (runs.every(({ isMs }) => isMs === 0)) return 'bridges';
  const longer = runs.filter(isLonger);
  if (longer.length === runs.length) return 'lengthens';
  if (longer.length > 0 && mostOf(runs, 'isMs') > mostOf(runs, 'wasMs')) return 'may_lengthen';
  if (isShorterForSure(runs)) return 'shortens';
  return runs.every(isAboutEqual) ? 'none' : 'mixed';
}

/** Some runs may be longer with the change: what counts is the longest of all, and the average gain. */
function isShorterForSure(runs: readonly Comparison[]): boolean {
  if (!isWorthIt({ wasMs: mostOf(runs, 'wasMs'), isMs: mostOf(runs, 'isMs') })) return false;
  // Runs that are bridged and runs that are not scatter widely, even though each is shorter.
  if (runs.every(isWorthIt)) return true;
  const gains = runs.map(gainOf).filter((gain) => gain !== undefined);
  const mean = gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
  const variance = gains.reduce((sum, gain) => sum + (gain - mean) ** 2, 0) / gains.length;
  return mean >= SURE_DEVIATIONS * Math.sqrt(variance);
}

/**
 * From -1 for a run that loses only with the change to 1 for one that it bridges, so that a run that lost next to
 * nothing counts like any other.
 */
function gainOf({ wasMs, isMs }: Comparison): number | undefined {
  const mostMs = Math.max(wasMs, isMs);
  return mostMs === 0 ? undefined : (wasMs - isMs) / mostMs;
}

const isWorthIt = ({ wasMs, isMs }: Comparison): boolean =>
  isMs < NOTABLE_SHARE_OF_ALL * wasMs && wasMs - isMs >= NOTABLE_MS;

const mostOf = (runs: readonly Comparison[], of: keyof Comparison): number =>
  runs.reduce((most, run) => Math.max(most, run[of]), 0);

/** Whether a run is longer with the change. */
export const isLonger = ({ wasMs, isMs }: Comparison): boolean => isNotablyLonger(wasMs, isMs);

const isAboutEqual = ({ wasMs, isMs }: Comparison): boolean =>
  !isNotablyLonger(wasMs, isMs) && !isNotablyLonger(isMs, wasMs);

/** By more than one look of the replicas, and by more than a tenth. */
export const isNotablyLonger = (wasMs: number, isMs: number): boolean =>
  NOTABLE_SHARE * isMs >= wasMs && isMs - wasMs >= NOTABLE_MS;

/** The time without a session; time past the margin counts only if no run was without one. */
export const lostIn = (figures: ScheduleFigures, isOfSessions: boolean): number =>
  isOfSessions ? figures.withoutSessionMs : figures.pastMarginMs + figures.withoutSessionMs;
