import type { ChangeKind } from './change.js';
import { isHitHarder, type ScheduleFigures } from './figures.js';
import { believedLifeMs } from './needed-lead.js';
import type { SimulationSetup } from './simulation.js';
import type { PlayedRun, Tried } from './trials.js';
import type { Span } from './wording.js';

/** The requested run, for one merchant. */
export interface Member {
  readonly setup: SimulationSetup;
  readonly figures: ScheduleFigures;
  readonly notPlayed?: string;
}

/** A run, and what was found out about it. */
export interface Judged extends Member {
  /** All merchants that have the same settings: the run is that of the hardest-hit one. Absent if there is only one. */
  readonly alike?: readonly Member[];
  /**
   * The same run with other seeds and other starts of the outage. Absent if there are none, or if they were not played.
   */
  readonly others?: readonly PlayedRun[];
  /** Absent if nothing was tried: nothing was wrong, the run is too long, or other merchants are to show it. */
  readonly tried?: readonly Tried[];
  /** Kinds of change of which some were tried, although none that is reported helps. */
  readonly inVain?: readonly ChangeKind[];
  /** Kinds of which one bridges the gap too, and needs more calls than something that is reported. */
  readonly outdone?: readonly ChangeKind[];
  /** Others in the same run have advice, but nothing was tried for this one. */
  readonly isOneOfMany?: boolean;
  /** The smallest `renewBefore` that fits two attempts. Absent if none does, or if it was not sought. */
  readonly leadShare?: number;
}

export const membersOf = (judged: Judged): readonly Member[] => judged.alike ?? [judged];

export const gapOfOthers = (others: readonly PlayedRun[]): Span =>
  spanOf(others.map(({ figures }) => figures.withoutSessionMs));

export const pastMarginOfOthers = (others: readonly PlayedRun[]): Span =>
  spanOf(others.map(({ figures }) => figures.pastMarginMs));

/** A long run is not repeated at full length, so the other runs lose less in total for that reason alone. */
export const areShorter = ({ setup, others = [] }: Pick<Judged, 'setup' | 'others'>): boolean =>
  others.length > 0 && others.every((other) => other.setup.durationMs < setup.durationMs);

export const spanOf = (durationsMs: readonly number[]): Span => ({
  leastMs: Math.min(...durationsMs),
  mostMs: Math.max(...durationsMs),
});

/** A read that may wait does so for far longer, and any other is told to ask again after a second. */
const WAITED_FOR_MS = 1_000;

/**
 * Whether there were gaps, but in none of the merchants and runs one that a read does not wait out. After an outage, an
 * equally short gap is a near miss that another seed makes a long one, unless sessions are as long as a window of the
 * budget: then the next call is free just when they end.
 */
export function isWaitedFor(judged: Judged): boolean {
  const { setup } = judged;
  const isOfWindow = setup.settings.budget.some(({ perMs }) => perMs === believedLifeMs(setup));
  if (setup.behaviour.outageMs > 0 && !isOfWindow) return false;
  const runs = [...membersOf(judged), ...(judged.others ?? [])];
  const longestMs = Math.max(...runs.map(({ figures }) => longestIn(figures)));
  return longestMs > 0 && longestMs < WAITED_FOR_MS;
}

/** No read has to wait out more than one of the gaps. */
const longestIn = ({ longestGap, withoutSessionMs }: ScheduleFigures): number => longestGap?.gapMs ?? withoutSessionMs;

/** The hardest-hit run of all; this run itself if no other is hit harder. */
export const worstOf = ({ setup, figures, others = [] }: Judged): PlayedRun =>
  hardestHit([{ setup, figures }, ...others]);

/** The first of those that are hit equally hard. */
export const hardestHit = <Run extends Pick<PlayedRun, 'figures'>>(runs: readonly Run[]): Run =>
  runs.reduce((worst, next) => (isHitHarder(next.figures, worst.figures) ? next : worst));
