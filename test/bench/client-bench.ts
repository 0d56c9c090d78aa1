import { SessionBroker } from '#libs/client';
import { BenchBroker, TOKEN } from './bench-broker.js';
import type { BenchLine } from './bench-line.js';

const CALLS = 2_000_000;
const ROUNDS = 7;

/**
 * How often per second the client returns its session once it holds one, compared with a function that returns a
 * constant.
 */
export async function benchClient(): Promise<readonly BenchLine[]> {
  const running = await BenchBroker.start();
  const client = new SessionBroker({ url: running.url, merchant: 'shop', auth: TOKEN });
  try {
    const held = Promise.resolve(await client.session());
    const [rates, bareRates]: [number[], number[]] = [[], []];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const rate = await callsPerSecond(() => client.session());
      const bareRate = await callsPerSecond(() => held);
      if (round === 0) continue;
      rates.push(rate);
      bareRates.push(bareRate);
    }
    return [
      { name: 'warm session()', unit: 'calls/s', values: rates, least: 1_000_000 },
      { name: 'awaiting a settled promise', unit: 'calls/s', values: bareRates },
    ];
  } finally {
    await client.close();
    await running.stop();
  }
}

async function callsPerSecond(call: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  for (let count = 0; count < CALLS; count += 1) await call();
  return CALLS / ((performance.now() - startedAt) / 1_000);
}
