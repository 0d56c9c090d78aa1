import { BenchBroker, TOKEN } from './bench-broker.js';
import type { BenchLine } from './bench-line.js';
import { payInLoop } from './payment-loop.js';

const OPERATIONS = 1_000;
/**
 * Twenty renewals pass during the operations: a session of 3.7 seconds lives for some 3.1, because all that is known of
 * the gateway's clock is its seconds, and is renewed after some 2.5.
 */
const LIFETIME_MS = 3_700;
const EVERY_MS = 48;
const MAX_CALLS = 21;

/**
 * Payments across renewals that each end the previous session, compared with a client that creates a session for each.
 */
export async function benchPayments(): Promise<readonly BenchLine[]> {
  await using running = await BenchBroker.start({
    merchant: { lifetimeMs: LIFETIME_MS, supersedes: true },
    gateway: 'timeout: 200ms, supersedes: true',
    session: 'budget: [{ calls: 100, per: 10m }]',
  });
  const { url: brokerUrl, sandboxUrl } = running.parts;
  const report = await payInLoop({ brokerUrl, sandboxUrl, token: TOKEN, operations: OPERATIONS, everyMs: EVERY_MS });
  for (const failure of report.failed.slice(0, 10)) console.error(failure);
  const calls = await running.createCalls();
  const { failed, generations, rejections } = report;
  return [
    { name: 'create calls', unit: 'calls', values: [calls], most: MAX_CALLS },
    { name: 'sessions that they used', unit: 'sessions', values: [generations] },
    { name: 'sessions found dead and replaced', unit: 'sessions', values: [rejections] },
    { name: 'failed payments', unit: 'payments', values: [failed.length], most: 0 },
  ];
}
