import type { ChangeKind } from './change.js';
import { isHitHarder, type ScheduleFigures } from './figures.js';
import { believedLifeMs } from './needed-lead.js';
import type { SimulationSetup } from './simulation.js';
import type { PlayedRun, Tried } from './trials.js';
import type { Span } from './wording.js';

/** The run that was asked for, of one merchant. */
export interface Member {
  readonly setup: SimulationSetup;
  readonly figures: ScheduleFigures;
  readonly notPlayed?: string;
}

/** A run, and what was found out about it. */
export interface Judged extends Member {
  /** All merchants that have the same settings: the run is that of the one among them that is hit hardest. Absent: it is alone. */
  readonly alike?: readonly Member[];
  /** The same with other seeds and other beginnings of the outage. Absent: there are none, or they were not played. */
  readonly others?: readonly PlayedRun[];
  /** Absent: nothing was tried, for nothing was wrong, the run is too long or it is for others to show. */
  readonly tried?: readonly Tried[];
  /** Kinds of change of which some were tried, and none that is told helps. */
  readonly inVain?: readonly ChangeKind[];
  /** Others of the same run have advice, and nothing was tried for this one. */
  readonly isOneOfMany?: boolean;
  /** The least `renewBefore` that fits two attempts; absent: none does, or it was not sought. */
  readonly leadShare?: number;
}

export const membersOf = (judged: Judged): readonly Member[] => judged.alike ?? [judged];

export const gapOfOthers = (others: readonly PlayedRun[]): Span =>
  spanOf(others.map(({ figures }) => figures.withoutSessionMs));

export const pastMarginOfOthers = (others: readonly PlayedRun[]): Span =>
  spanOf(others.map(({ figures }) => figures.pastMarginMs));

/** A long run is not repeated as it is: what the others lose in all is less for that alone. */
export const areShorter = ({ setup, others = [] }: Pick<Judged, 'setup' | 'others'>): boolean =>
  others.length > 0 && others.every((other) => other.setup.durationMs < setup.durationMs);

export const spanOf = (durationsMs: readonly number[]): Span => ({
  leastMs: Math.min(...durationsMs),
  mostMs: Math.max(...durationsMs),
});

/** A read that may wait does so for far longer, and any other is told to ask again after a second. */
const WAITED_FOR_MS = 1_000;

/**
 * Whether there was a gap, and in none of the merchants and runs one that a read does not wait for. As short a one that an outage leaves is a near
 * miss, which another seed makes a long one; but of sessions as long as a window of the budget the next call is free when they end.
 */
export function isWaitedFor(judged: Judged): boolean {
  const { setup } = judged;
  const isOfWindow = setup.settings.budget.some(({ perMs }) => perMs === believedLifeMs(setup));
  if (setup.behaviour.outageMs > 0 && !isOfWindow) return false;
  const runs = [...membersOf(judged), ...(judged.others ?? [])];
  const longestMs = Math.max(...runs.map(({ figures }) => longestIn(figures)));
  return longestMs > 0 && longestMs < WAITED_FOR_MS;
}

/** No read waits for longer than for one of them. */
const longestIn = ({ longestGap, withoutSessionMs }: ScheduleFigures): number => longestGap?.gapMs ?? withoutSessionMs;

/** The one of all that is hit hardest; this run itself where none is hit harder. */
export const worstOf = ({ setup, figures, others = [] }: Judged): PlayedRun =>
  hardestHit([{ setup, figures }, ...others]);

/** The first of those that are hit alike. */
export const hardestHit = <Run extends Pick<PlayedRun, 'figures'>>(runs: readonly Run[]): Run =>
  runs.reduce((worst, next) => (isHitHarder(next.figures, worst.figures) ? next : worst));
