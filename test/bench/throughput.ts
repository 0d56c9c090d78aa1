export interface Contender {
  readonly run: () => Promise<unknown>;
  /** How many runs are in progress at the same time. */
  readonly inFlight: number;
}

const ROUNDS = 15;
const RUNS_PER_ROUND = 160;

/**
 * Runs per second of each contender: the median of rounds that take turns, so that whatever else the machine does
 * meanwhile falls on all of them alike.
 */
export async function throughputOf<Name extends string>(
  contenders: Readonly<Record<Name, Contender>>,
): Promise<Record<Name, number>> {
  const names = Object.keys(contenders) as Name[];
  const rates = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (const name of names) await rateOf(contenders[name]);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of names) rates.get(name)?.push(await rateOf(contenders[name]));
  }
  return Object.fromEntries(names.map((name) => [name, median(rates.get(name) ?? [])])) as Record<Name, number>;
}

async function rateOf({ run, inFlight }: Contender): Promise<number> {
  let left = RUNS_PER_ROUND;
  const lane = async (): Promise<void> => {
    while (left-- > 0) await run();
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: inFlight }, lane));
  return (RUNS_PER_ROUND / (performance.now() - startedAt)) * 1_000;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
