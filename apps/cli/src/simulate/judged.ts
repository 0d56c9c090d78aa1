import type { ScheduleFigures } from './figures.js';
import type { SimulationSetup } from './simulation.js';
import type { Tried } from './trials.js';
import type { WorseNight } from './worse-night.js';

/** A run, and what was found out about it. */
export interface Judged {
  readonly setup: SimulationSetup;
  readonly figures: ScheduleFigures;
  readonly notPlayed?: string;
  /** Another night leaves no session for longer. Then the advice is for that one. */
  readonly worseNight?: WorseNight;
  /** Absent: nothing was tried, for nothing was wrong, the run is too long or it is for others to show. */
  readonly tried?: readonly Tried[];
  /** Others of the same run have advice, and nothing was tried for this one. */
  readonly isOneOfMany?: boolean;
  /** The least `renewBefore` that fits two attempts; absent: none does, or it was not sought. */
  readonly leadShare?: number;
}
