import { type Invariant, invariants } from './invariants.js';
import { actionsOf } from './specification.js';
import { type FaultKind, newWorld, type Replica, type Rules, type World } from './world.js';

export interface Bounds {
  readonly replicas: number;
  readonly faults: number;
  readonly rules: Rules;
  /** Only these faults strike; all of them when left out. */
  readonly kinds?: readonly FaultKind[];
  /** The search ends here, incomplete. */
  readonly maxStates: number;
}

export interface Exploration {
  readonly states: number;
  readonly actions: number;
  readonly isComplete: boolean;
  readonly depth: number;
  /** The first broken invariant, and the shortest way to it. */
  readonly breach?: { readonly invariant: Invariant; readonly trace: readonly string[] };
}

interface Frontier {
  readonly world: World;
  readonly place: number;
}

/** Where each state was reached from, so that the way to it can be told. */
class Ways {
  readonly #from: number[] = [];
  readonly #labels: string[] = [];

  add(from: number, label: string): number {
    this.#labels.push(label);
    return this.#from.push(from) - 1;
  }

  to(place: number): readonly string[] {
    const labels: string[] = [];
    for (let at = place; at > 0; at = this.#from[at] ?? 0) labels.unshift(this.#labels[at] ?? '');
    return labels;
  }
}

/** Breadth first, so that the first breach found is reached by a shortest trace. */
export function explore({ replicas, faults, rules, kinds, maxStates }: Bounds): Exploration {
  const start = newWorld(replicas, faults);
  const seen = new Set<number>([keyOf(start)]);
  const ways = new Ways();
  let frontier: Frontier[] = [{ world: start, place: ways.add(0, 'start') }];
  let actions = 0;
  let depth = 0;
  const so = (isComplete: boolean): Exploration => ({ states: seen.size, actions, isComplete, depth });
  while (frontier.length > 0) {
    const next: Frontier[] = [];
    for (const { world, place } of frontier) {
      for (const { label, world: after } of actionsOf(world, rules)) {
        if (kinds !== undefined && after.faults.some(({ kind }) => !kinds.includes(kind))) continue;
        actions += 1;
        const key = keyOf(after);
        if (seen.has(key)) continue;
        const invariant = invariants.find(({ holds }) => !holds({ before: world, after, rules }));
        if (invariant !== undefined) return { ...so(false), breach: { invariant, trace: [...ways.to(place), label] } };
        if (seen.size >= maxStates) return so(false);
        seen.add(key);
        next.push({ world: after, place: ways.add(place, label) });
      }
    }
    frontier = next;
    depth += 1;
  }
  return so(true);
}

/** Replicas are alike: of the worlds that differ only in which of them is which, most are taken for one. */
function keyOf(world: World): number {
  const order = world.replicas
    .map((replica, at) => ({ at, sortedBy: sortKey(replica) }))
    .sort((a, b) => (a.sortedBy < b.sortedBy ? -1 : a.sortedBy > b.sortedBy ? 1 : a.at - b.at))
    .map(({ at }) => at);
  const placeOf = (replica: number): number => order.indexOf(replica);
  const renamed = {
    ...world,
    replicas: order.map((at) => world.replicas[at]),
    calls: world.calls.map((call) => ({ ...call, replica: placeOf(call.replica) })),
  };
  // Owners are written "replica.epoch": "0.1", and "lease:0.1:4:2" in the mark of a lease.
  const text = JSON.stringify(renamed).replace(
    /(["]|lease:)(\d)\.(?=\d)/g,
    (_, before: string, at: string) => `${before}${placeOf(Number(at))}.`,
  );
  return hashOf(text);
}

const sortKey = ({ work, held, floor, unconfirmed, state, isHinted, announced, hasAsked }: Replica): string =>
  JSON.stringify([state, work, held, floor, unconfirmed, isHinted, announced, hasAsked]);

/** 53 bits (cyrb53): two of a million states share one by a chance of about one in twenty thousand. */
function hashOf(text: string): number {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 2_654_435_761);
    low = Math.imul(low ^ code, 1_597_334_677);
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return 4_294_967_296 * (2_097_151 & low) + (high >>> 0);
}
