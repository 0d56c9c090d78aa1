import type { ScheduleFigures, WindowFigures } from './figures.js';
import { leastLeftMs } from './needed-lead.js';
import type { SimulationSetup } from './simulation.js';

/** The window that the schedule alone exceeds. */
export const tooSmallOf = ({ budget }: Pick<ScheduleFigures, 'budget'>): WindowFigures | undefined =>
  budget.find(({ needed, calls }) => needed > calls);

/**
 * The window whose calls the schedule alone may use up without exceeding them. One that is over before the session ends
 * counts for nothing: if a call fails, the next one still comes in time.
 */
export const withNoneToSpare = (
  { budget }: Pick<ScheduleFigures, 'budget'>,
  run: Pick<SimulationSetup, 'settings' | 'behaviour'>,
): WindowFigures | undefined =>
  budget.find(({ needed, calls, perMs }) => needed === calls && perMs >= leastLeftMs(run));
