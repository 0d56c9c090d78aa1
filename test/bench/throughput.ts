export interface Contender {
  readonly run: () => Promise<unknown>;
  /** How many runs are in progress at the same time. */
  readonly inFlight: number;
}

/** What each round measured. */
export interface Pace {
  readonly perSecond: readonly number[];
  /** Runs in a second of processor time, on all threads: what it costs, whatever else the machine is doing. */
  readonly perCpuSecond: readonly number[];
}

const ROUNDS = 15;
const RUNS_PER_ROUND = 200;

/**
 * The pace of each contender in rounds that take turns, so that whatever else the machine is doing affects all of them
 * alike.
 */
export async function paceOf<Name extends string>(
  contenders: Readonly<Record<Name, Contender>>,
): Promise<Record<Name, Pace>> {
  const names = Object.keys(contenders) as Name[];
  const rounds = new Map<Name, Round[]>(names.map((name) => [name, []]));
  for (const name of names) await round(contenders[name]);
  for (let count = 0; count < ROUNDS; count += 1) {
    for (const name of names) rounds.get(name)?.push(await round(contenders[name]));
  }
  return Object.fromEntries(names.map((name) => [name, paceIn(rounds.get(name) ?? [])])) as Record<Name, Pace>;
}

export interface Round {
  readonly perSecond: number;
  readonly perCpuSecond: number;
}

export function paceIn(rounds: readonly Round[]): Pace {
  return {
    perSecond: rounds.map(({ perSecond }) => perSecond),
    perCpuSecond: rounds.map(({ perCpuSecond }) => perCpuSecond),
  };
}

/** @param runs that are made: as many as `all` makes */
export async function roundOf(runs: number, all: () => Promise<unknown>): Promise<Round> {
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  await all();
  const { user, system } = process.cpuUsage(cpuBefore);
  const perSecond = (runs * 1_000) / (performance.now() - startedAt);
  return { perSecond, perCpuSecond: (runs * 1e6) / (user + system) };
}

function round({ run, inFlight }: Contender): Promise<Round> {
  let left = RUNS_PER_ROUND;
  const lane = async (): Promise<void> => {
    while (left-- > 0) await run();
  };
  return roundOf(RUNS_PER_ROUND, () => Promise.all(Array.from({ length: inFlight }, lane)));
}
