import { setTimeout as pause } from 'node:timers/promises';
import { BenchBroker } from './bench-broker.js';
import type { BenchLine } from './bench-line.js';
import { loadOf } from './requests.js';

const REST_MS = 5_000;
const LOAD_S = 15;
const CONNECTIONS = 64;
/** By then, what the load took should have been given back. */
const AFTER_MS = 35_000;

/** How much memory a replica takes when idle, while it answers as many reads as it can, and afterwards. */
export async function benchMemory(): Promise<readonly BenchLine[]> {
  await using running = await BenchBroker.start({ isPinned: true });
  await pause(REST_MS);
  const atRest = running.broker.residentMib();
  let underLoad = atRest;
  const looking = setInterval(() => (underLoad = Math.max(underLoad, running.broker.residentMib())), 200);
  const { headers } = BenchBroker;
  await loadOf({ url: running.sessionUrl, headers, connections: CONNECTIONS, duration: LOAD_S });
  clearInterval(looking);
  await pause(AFTER_MS);
  return [
    { name: 'at rest', unit: 'MiB', values: [atRest], most: 90 },
    { name: `most within ${LOAD_S} s of full load`, unit: 'MiB', values: [underLoad], most: 130 },
    { name: `${AFTER_MS / 1_000} s after it`, unit: 'MiB', values: [running.broker.residentMib()], most: 100 },
  ];
}
