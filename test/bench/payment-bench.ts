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

/**
 * Payments across renewals that each end the previous session, compared with a client that creates a session for each.
 */
export async function benchPayments(): Promise<readonly BenchLine[]> {
  const running = await BenchBroker.start({
    merchant: { lifetimeMs: LIFETIME_MS, supersedes: true },
    gateway: 'timeout: 200ms, supersedes: true',
    session: 'budget: [{ calls: 100, per: 10m }]',
  });
  try {
    const { url: brokerUrl, sandboxUrl } = running;
    const report = await payInLoop({ brokerUrl, sandboxUrl, token: TOKEN, operations: OPERATIONS, everyMs: EVERY_MS });
    for (const failure of report.failed.slice(0, 10)) console.error(failure);
    const baseline = `the ${OPERATIONS} of a client that creates a session for each operation`;
    const calls = await running.createCalls();
    const failed = report.failed.length;
    return [
      {
        name: `create calls of ${OPERATIONS} payments over ${report.generations} sessions`,
        value: calls,
        unit: 'calls',
        ratio: calls / OPERATIONS,
        baseline,
        atMost: 0.021,
      },
      {
        name: `payments that failed (${report.rejections} sessions found dead and replaced)`,
        value: failed,
        unit: 'payments',
        ratio: failed / OPERATIONS,
        baseline: 'all payments',
        atMost: 0,
      },
    ];
  } finally {
    await running.stop();
  }
}
