import type { ScheduleFigures } from './figures.js';

/**
 * Of a change on the time without a session, or past the margin where there was always one, in all runs that were played with it:
 * `lengthens` in every one, `may_lengthen` in some, `none` in any; `mixed` is none of these, and not told.
 */
export type Effect = 'bridges' | 'shortens' | 'none' | 'lengthens' | 'may_lengthen' | 'mixed';

/** What one run loses, without the change and with it. */
export interface Comparison {
  readonly wasMs: number;
  readonly isMs: number;
}

/** Less than a tenth is as likely chance, and so is what replicas that look once a second decide. */
const NOTABLE_SHARE = 0.9;
const NOTABLE_MS = 2_000;
/** Several runs show less than one does. */
const NOTABLE_SHARE_OF_ALL = 0.95;
/** How far the mean of the shares that are gained lies from nothing, in deviations: more than chance gives in as many runs as are played. */
const SURE_DEVIATIONS = 1;

export function effectOf(runs: readonly Comparison[]): Effect {
  if (runs.every(({ isMs }) => isMs === 0)) return 'bridges';
  const longer = runs.filter(isLonger);
  if (longer.length === runs.length) return 'lengthens';
  if (longer.length > 0 && mostOf(runs, 'isMs') > mostOf(runs, 'wasMs')) return 'may_lengthen';
  if (isShorterForSure(runs)) return 'shortens';
  return runs.every(isAboutEqual) ? 'none' : 'mixed';
}

/** Some runs may be longer with it: the longest of all counts, and what is gained on average. */
function isShorterForSure(runs: readonly Comparison[]): boolean {
  if (!isWorthIt({ wasMs: mostOf(runs, 'wasMs'), isMs: mostOf(runs, 'isMs') })) return false;
  // Some that are bridged and others that are not stray widely, and each is shorter.
  if (runs.every(isWorthIt)) return true;
  const gains = runs.map(gainOf).filter((gain) => gain !== undefined);
  const mean = gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
  const variance = gains.reduce((sum, gain) => sum + (gain - mean) ** 2, 0) / gains.length;
  return mean >= SURE_DEVIATIONS * Math.sqrt(variance);
}

/** From -1 for a run that loses only with the change to 1 for one that it bridges: a run that lost next to nothing counts as any other. */
function gainOf({ wasMs, isMs }: Comparison): number | undefined {
  const mostMs = Math.max(wasMs, isMs);
  return mostMs === 0 ? undefined : (wasMs - isMs) / mostMs;
}

const isWorthIt = ({ wasMs, isMs }: Comparison): boolean =>
  isMs < NOTABLE_SHARE_OF_ALL * wasMs && wasMs - isMs >= NOTABLE_MS;

const mostOf = (runs: readonly Comparison[], of: keyof Comparison): number =>
  runs.reduce((most, run) => Math.max(most, run[of]), 0);

/** Whether a run is longer with it. */
export const isLonger = ({ wasMs, isMs }: Comparison): boolean => isNotablyLonger(wasMs, isMs);

const isAboutEqual = ({ wasMs, isMs }: Comparison): boolean =>
  !isNotablyLonger(wasMs, isMs) && !isNotablyLonger(isMs, wasMs);

/** By more than a look of the replicas, and more than a tenth. */
export const isNotablyLonger = (wasMs: number, isMs: number): boolean =>
  NOTABLE_SHARE * isMs >= wasMs && isMs - wasMs >= NOTABLE_MS;

/** Without a session; past the margin counts where no run was without one. */
export const lostIn = (figures: ScheduleFigures, isOfSessions: boolean): number =>
  isOfSessions ? figures.withoutSessionMs : figures.pastMarginMs + figures.withoutSessionMs;
