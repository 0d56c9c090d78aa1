import type { Violation } from './judge.js';
import type { Fault, Scenario } from './scenario.js';

/** Plays a scenario and returns what was violated. */
export type Play = (scenario: Scenario) => Promise<Violation | undefined>;

/** Durations shorter than twice this are not halved any further. */
const MIN_MS = 50;
const MAX_PLAYS = 200;

/**
 * Makes a failing scenario smaller as long as the same invariant fails: faults are left out one at a time, the
 * remaining ones are shortened and weakened, and the run ends where it failed.
 */
export async function shrink(scenario: Scenario, violation: Violation, play: Play): Promise<Scenario> {
  let smallest = scenario;
  let plays = 0;
  for (let candidates = smallerThan(smallest, violation.atMs); ;) {
    const candidate = candidates.next();
    if (candidate.done === true || plays >= MAX_PLAYS) return smallest;
    plays += 1;
    const found = await play(candidate.value);
    if (found?.invariant !== violation.invariant) continue;
    smallest = candidate.value;
    candidates = smallerThan(smallest, found.atMs);
  }
}

function* smallerThan(scenario: Scenario, failedAtMs: number): Generator<Scenario> {
  const { faults } = scenario;
  const forMs = Math.ceil(failedAtMs / 1_000) * 1_000;
  if (forMs < scenario.forMs) yield { ...scenario, forMs };
  for (const left of faults) yield { ...scenario, faults: faults.filter((fault) => fault !== left) };
  if (scenario.replicas > 1 && faults.every((fault) => !('whom' in fault) || fault.whom !== scenario.replicas - 1)) {
    yield { ...scenario, replicas: scenario.replicas - 1 };
  }
  if (scenario.wallOffsetsMs.some((offsetMs) => offsetMs !== 0)) {
    yield { ...scenario, wallOffsetsMs: scenario.wallOffsetsMs.map(() => 0) };
  }
  for (const [place, fault] of faults.entries()) {
    for (const smaller of smallerFaults(fault)) yield { ...scenario, faults: faults.with(place, smaller) };
  }
}

function* smallerFaults(fault: Fault): Generator<Fault> {
  if (fault.lastsMs >= 2 * MIN_MS) yield { ...fault, lastsMs: Math.floor(fault.lastsMs / 2) };
  // A gateway's clock is either plausible or not: halving could turn one into the other.
  if ('byMs' in fault && fault.kind !== 'gateway_clock' && Math.abs(fault.byMs) >= 2 * MIN_MS)
    yield { ...fault, byMs: Math.trunc(fault.byMs / 2) };
  if ('losesWrites' in fault && fault.losesWrites > 1) yield { ...fault, losesWrites: fault.losesWrites - 1 };
  if ('copies' in fault && fault.copies > 1) yield { ...fault, copies: 1 };
  if ('lateMs' in fault && fault.lateMs > 0) yield { ...fault, lateMs: 0 };
}
