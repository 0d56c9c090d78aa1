import { setTimeout as pause } from 'node:timers/promises';
import { SERVER_CPU } from './bare-contender.js';
import { BenchBroker } from './bench-broker.js';
import type { BenchLine } from './bench-line.js';
import { loadOf } from './load-generator.js';

const MIB = 1_048_576;
const REST_MS = 5_000;
const LOAD_S = 15;
const CONNECTIONS = 64;
/** By then, what the load took should have been given back. */
const AFTER_MS = 35_000;

/** How much memory a replica takes when idle, while it answers as many reads as it can, and afterwards. */
export async function benchMemory(): Promise<readonly BenchLine[]> {
  const running = await BenchBroker.start({ brokerCpu: SERVER_CPU });
  const residentMib = (): number => running.broker.residentBytes() / MIB;
  try {
    await pause(REST_MS);
    const atRest = residentMib();
    const { url, headers } = { url: running.sessionUrl, headers: BenchBroker.headers };
    const load = loadOf({ url, headers, connections: CONNECTIONS, duration: LOAD_S });
    const underLoad = await mostWhile(load, residentMib);
    await pause(AFTER_MS);
    return [
      { name: 'at rest', unit: 'MiB', values: [atRest], most: 90 },
      { name: `most within ${LOAD_S} s of full load`, unit: 'MiB', values: [underLoad], most: 130 },
      { name: `${AFTER_MS / 1_000} s after it`, unit: 'MiB', values: [residentMib()], most: 100 },
    ];
  } finally {
    await running.stop();
  }
}

async function mostWhile(running: PromiseLike<unknown>, value: () => number): Promise<number> {
  let [most, isOver] = [value(), false];
  const over = Promise.resolve(running).then(() => (isOver = true));
  while (!isOver) {
    await Promise.race([over, pause(200)]);
    most = Math.max(most, value());
  }
  return most;
}
