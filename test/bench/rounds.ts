import { setTimeout as pause } from 'node:timers/promises';
import type { BenchLine } from './bench-line.js';

/**
 * What each contender measured, in rounds that take turns: whatever else the machine is doing affects all of them
 * alike. The first round warms them up and is not counted.
 */
export async function inTurns<Name extends string, Measured>(
  rounds: number,
  contenders: Readonly<Record<Name, () => Promise<Measured>>>,
): Promise<Record<Name, readonly Measured[]>> {
  const names = Object.keys(contenders) as Name[];
  const measured = {} as Record<Name, Measured[]>;
  for (const name of names) measured[name] = [];
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of names) {
      const one = await contenders[name]();
      if (round > 0) measured[name].push(one);
    }
  }
  return measured;
}

/** What one round measured. */
export interface Pace {
  readonly perSecond: number;
  /** In a second of processor time, on all threads: what it costs, whatever else the machine is doing. */
  readonly perCpuSecond: number;
}

/** @param runs that are made: as many as `all` makes */
export async function paceOf(runs: number, all: () => Promise<unknown>): Promise<Pace> {
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  await all();
  const { user, system } = process.cpuUsage(cpuBefore);
  const perSecond = (runs * 1_000) / (performance.now() - startedAt);
  return { perSecond, perCpuSecond: (runs * 1e6) / (user + system) };
}

/** The same for runs of one kind, of which this many are in progress at the same time. */
export function paceInLanes(runs: number, lanes: number, run: (left: number) => Promise<unknown>): Promise<Pace> {
  let left = runs;
  const lane = async (): Promise<void> => {
    while (left-- > 0) await run(left);
  };
  return paceOf(runs, () => Promise.all(Array.from({ length: lanes }, lane)));
}

interface PaceGoal {
  readonly ours: readonly Pace[];
  readonly bare: readonly Pace[];
  /** What the bare one is, in words. */
  readonly what: string;
  readonly least: Pace;
}

/** The lines of two contenders that took turns. */
export function paceLines(name: string, { ours, bare, what, least }: PaceGoal): readonly BenchLine[] {
  const line = (per: string, of: keyof Pace): BenchLine => ({
    name: `${name} per ${per}`,
    unit: '1/s',
    values: ours.map((round) => round[of]),
    beside: { what, values: bare.map((round) => round[of]) },
    least: least[of],
  });
  return [line('second', 'perSecond'), line('processor second', 'perCpuSecond')];
}

/**
 * Starts work at a steady pace for as long as it is wanted, whether or not earlier work has ended.
 * @returns what each came to, in the order in which they were started
 */
export async function atPace<Result>(
  perSecond: number,
  start: (index: number) => Promise<Result>,
  isWanted: (started: number) => boolean,
): Promise<readonly Result[]> {
  const started: Promise<Result>[] = [];
  const beganAt = performance.now();
  while (isWanted(started.length)) {
    // Paced by the clock, not by the pauses: a late timer does not slow it down.
    const due = Math.floor(((performance.now() - beganAt) * perSecond) / 1_000);
    if (started.length < due) started.push(start(started.length));
    else await pause(1);
  }
  return Promise.all(started);
}
