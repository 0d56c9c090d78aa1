import { type BenchLine, percentile } from './bench-line.js';
import { startFleet } from './handover-fleet.js';
import { type HandoverReport, payThroughRenewals } from './handover-payments.js';

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
  return [...linesOf('without', without), ...linesOf('with', with1s), ...waits(with1s)];
}

async function reportOf(handover: string): Promise<HandoverReport> {
  const timing = { lifetimeMs: 5_000, paymentMs: PAYMENT_MS, createMs: CREATE_MS };
  await using fleet = await startFleet({ replicas: 3, handover, ...timing });
  const report = await payThroughRenewals(fleet, { perSecond: PER_SECOND, renewals: RENEWALS, maxMs: 120_000 });
  for (const failure of report.failed.slice(0, 10)) console.error(failure);
  return report;
}

function linesOf(how: string, { ledger, payments, failed }: HandoverReport): readonly BenchLine[] {
  const sum = ledger.lost + ledger.doubled + failed.length;
  const goal = how === 'with' ? { most: 0 } : {};
  const line = (what: string, count: number): BenchLine => {
    return { name: `${how}: ${what}`, unit: 'payments', values: [count], ...goal };
  };
  return [
    { name: `${how}: payments`, unit: 'payments', values: [payments] },
    line('refused and sent again', Math.max(ledger.refused, ledger.repeated)),
    { ...line('lost, doubled or failed', sum), most: 0 },
  ];
}

function waits({ heldWaitsMs, otherWaitsMs, holds, longestCreateMs }: HandoverReport): readonly BenchLine[] {
  const line = (name: string, waitsMs: readonly number[]): BenchLine => {
    return { name: `${name}, p99`, unit: 'ms', values: [percentile(waitsMs, 0.99)], most: CREATE_MS + ALLOWANCE_MS };
  };
  const lastDrainedMs = new Map<number, number>();
  for (const { generation, drainedMs } of holds) {
    lastDrainedMs.set(generation, Math.max(drainedMs, lastDrainedMs.get(generation) ?? 0));
  }
  const drains = holds.map(({ generation, sinceMs }) => (lastDrainedMs.get(generation) ?? 0) - sinceMs);
  const rests = holds.map(({ generation, resumedMs }) => resumedMs - (lastDrainedMs.get(generation) ?? 0));
  return [
    { name: 'the longest create call', unit: 'ms', values: [longestCreateMs] },
    line('wait of a held payment', heldWaitsMs),
    line('of it, for running payments', drains),
    line('of it, for the session', rests),
    line('wait between renewals', otherWaitsMs),
  ];
}
