import { SessionBroker } from '#libs/client';
import { BenchBroker, TOKEN } from './bench-broker.js';
import type { BenchLine } from './bench-line.js';
import { inTurns } from './rounds.js';

const CALLS = 2_000_000;
const ROUNDS = 7;

/**
 * How often per second the client returns its session once it holds one, compared with a function that returns a
 * constant.
 */
export async function benchClient(): Promise<readonly BenchLine[]> {
  await using running = await BenchBroker.start();
  await using client = new SessionBroker({ url: running.url, merchant: 'shop', auth: TOKEN });
  const held = Promise.resolve(await client.session());
  const { warm, bare } = await inTurns(ROUNDS, {
    warm: () => callsPerSecond(() => client.session()),
    bare: () => callsPerSecond(() => held),
  });
  return [
    { name: 'warm session()', unit: 'calls/s', values: warm, least: 1_000_000 },
    { name: 'awaiting a settled promise', unit: 'calls/s', values: bare },
  ];
}

async function callsPerSecond(call: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  for (let count = 0; count < CALLS; count += 1) await call();
  return CALLS / ((performance.now() - startedAt) / 1_000);
}
