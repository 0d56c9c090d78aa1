import { actionsOf } from './actions.js';
import { newWorld } from './new-world.js';
import { type Moved, type Promised, promises } from './promises.js';
import { SeenWorlds } from './seen-worlds.js';
import type { FaultKind, World } from './world.js';
import { keyOf } from './world-key.js';

export interface Bounds {
  readonly replicas: number;
  readonly faults: number;
  /** Only these faults strike; all of them if left out. */
  readonly kinds?: readonly FaultKind[];
  /** The search ends here, incomplete. */
  readonly maxStates: number;
  /** Asked now and then whether the search should end, incomplete. */
  readonly isTimeUp?: () => boolean;
}

export interface Exploration {
  readonly states: number;
  readonly actions: number;
  readonly isComplete: boolean;
  /** Everything that can happen in this many steps was seen. */
  readonly depth: number;
  /** The first broken promise, and the shortest way to it. */
  readonly breach?: { readonly promise: Promised; readonly trace: readonly string[] };
}

interface Frontier {
  readonly world: World;
  readonly place: number;
}

const TURNS_BETWEEN_LOOKS = 1_024;

/** Breadth first, so that the first breach found is reached by a shortest trace. */
export function explore(bounds: Bounds): Exploration {
  const { replicas, faults, maxStates } = bounds;
  const start = newWorld(replicas, faults);
  const seen = new SeenWorlds();
  let frontier: Frontier[] = [{ world: start, place: seen.add(keyOf(start), 0, 'start') ?? 0 }];
  let actions = 0;
  let depth = 0;
  const so = (isComplete: boolean): Exploration => ({ states: seen.size, actions, isComplete, depth });
  while (frontier.length > 0) {
    const next: Frontier[] = [];
    for (const [turn, { world, place }] of frontier.entries()) {
      if (isOver(bounds, turn)) return so(false);
      for (const { label, world: after } of actionsOf(world)) {
        if (!isWithin(bounds, after)) continue;
        actions += 1;
        const key = keyOf(after);
        const promise = broken({ before: world, after }, seen.has(key));
        if (promise !== undefined) {
          return { ...so(false), breach: { promise, trace: [...seen.wayTo(place), label] } };
        }
        if (seen.has(key)) continue;
        if (seen.size >= maxStates) return so(false);
        next.push({ world: after, place: seen.add(key, place, label) ?? 0 });
      }
    }
    frontier = next;
    depth += 1;
  }
  return so(true);
}

const isOver = ({ isTimeUp }: Bounds, turn: number): boolean =>
  turn % TURNS_BETWEEN_LOOKS === 0 && isTimeUp?.() === true;

const isWithin = ({ kinds }: Bounds, { faults }: World): boolean =>
  kinds === undefined || faults.every(({ kind }) => kinds.includes(kind));

/** What must hold in a world was checked when it was first reached; what must hold in a step is checked each time. */
function broken(moved: Moved, wasSeen: boolean): Promised | undefined {
  return promises.find(({ isOfStep, holds }) => (!wasSeen || isOfStep === true) && !holds(moved));
}
