export interface Contender {
  readonly run: () => Promise<unknown>;
  /** How many runs are in progress at the same time. */
  readonly inFlight: number;
}

export interface Pace {
  readonly perSecond: number;
  /** Processor time of one run, on all threads: what it costs, whatever else the machine is doing. */
  readonly cpuMs: number;
}

const ROUNDS = 15;
const RUNS_PER_ROUND = 200;

/**
 * The pace of each contender: the median of rounds that take turns, so that whatever else the machine is doing affects
 * all of them alike.
 */
export async function paceOf<Name extends string>(
  contenders: Readonly<Record<Name, Contender>>,
): Promise<Record<Name, Pace>> {
  const names = Object.keys(contenders) as Name[];
  const rounds = new Map<Name, Pace[]>(names.map((name) => [name, []]));
  for (const name of names) await round(contenders[name]);
  for (let count = 0; count < ROUNDS; count += 1) {
    for (const name of names) rounds.get(name)?.push(await round(contenders[name]));
  }
  return Object.fromEntries(names.map((name) => [name, medianOf(rounds.get(name) ?? [])])) as Record<Name, Pace>;
}

async function round({ run, inFlight }: Contender): Promise<Pace> {
  let left = RUNS_PER_ROUND;
  const lane = async (): Promise<void> => {
    while (left-- > 0) await run();
  };
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  await Promise.all(Array.from({ length: inFlight }, lane));
  const { user, system } = process.cpuUsage(cpuBefore);
  const seconds = (performance.now() - startedAt) / 1_000;
  return { perSecond: RUNS_PER_ROUND / seconds, cpuMs: (user + system) / 1_000 / RUNS_PER_ROUND };
}

function medianOf(rounds: readonly Pace[]): Pace {
  return { perSecond: median(rounds.map((one) => one.perSecond)), cpuMs: median(rounds.map((one) => one.cpuMs)) };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
