import type { BenchLine } from './bench-line.js';
import { HandoverFleet } from './handover-fleet.js';
import { type HandoverReport, payThroughRenewals, percentile } from './handover-payments.js';

const PAYMENT_MS = 300;
const CREATE_MS = 100;
const PER_SECOND = 200;
const RENEWALS = 10;
/** What a hand-over may cost on top of the create call. */
const ALLOWANCE_MS = 100;

/** Payments across renewals that each end the previous session, without and with a hand-over. */
export async function benchHandover(): Promise<readonly BenchLine[]> {
  const without = await reportOf('0s');
  const with1s = await reportOf('1s');
  return [...linesOf('without hand-over', without), ...linesOf('with hand-over', with1s), ...waits(with1s)];
}

async function reportOf(handover: string): Promise<HandoverReport> {
  const timing = { lifetimeMs: 5_000, paymentMs: PAYMENT_MS, createMs: CREATE_MS };
  const fleet = await HandoverFleet.start({ replicas: 3, handover, ...timing });
  try {
    const report = await payThroughRenewals(fleet, { perSecond: PER_SECOND, renewals: RENEWALS, maxMs: 120_000 });
    for (const failure of report.failed.slice(0, 10)) console.error(failure);
    return report;
  } finally {
    await fleet.close();
  }
}

function linesOf(how: string, { ledger, payments, renewals, failed }: HandoverReport): readonly BenchLine[] {
  const counts = { ...ledger, failed: failed.length };
  return Object.entries(counts).map(([what, count]) => ({
    name: `payments ${what}, ${how}, over ${renewals} renewals`,
    value: count,
    unit: 'payments',
    ratio: count / payments,
    baseline: `${payments} payments`,
    ...(how === 'with hand-over' ? { atMost: 0 } : {}),
  }));
}

function waits({ heldWaitsMs, otherWaitsMs, holds, longestCreateMs }: HandoverReport): readonly BenchLine[] {
  const allowedMs = longestCreateMs + ALLOWANCE_MS;
  const line = (name: string, value: number): BenchLine => ({
    ...{ name, value, unit: 'ms', ratio: value / allowedMs, atMost: 1 },
    baseline: `the create call (${longestCreateMs} ms) and ${ALLOWANCE_MS} ms`,
  });
  const lastDrainedMs = new Map<number, number>();
  for (const { generation, drainedMs } of holds) {
    lastDrainedMs.set(generation, Math.max(drainedMs, lastDrainedMs.get(generation) ?? 0));
  }
  const drains = holds.map(({ generation, sinceMs }) => (lastDrainedMs.get(generation) ?? 0) - sinceMs);
  const rests = holds.map(({ generation, resumedMs }) => resumedMs - (lastDrainedMs.get(generation) ?? 0));
  return [
    line(`wait of a held payment, p99 of ${heldWaitsMs.length}`, percentile(heldWaitsMs, 0.99)),
    line(`  of it, until the last running payment of ${PAYMENT_MS} ms has ended, p99`, percentile(drains, 0.99)),
    line('  of it, from then on until the next session is there, p99', percentile(rests, 0.99)),
    line(`wait of a payment between renewals, p99 of ${otherWaitsMs.length}`, percentile(otherWaitsMs, 0.99)),
  ];
}
