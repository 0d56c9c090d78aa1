import { setTimeout as pause } from 'node:timers/promises';
import { BenchEgress } from './bench-egress.js';
import type { BenchLine } from './bench-line.js';
import { HandoverFleet } from './handover-fleet.js';
import { CREATE_ORDER, type HandoverReport, ledgerOf, percentile } from './handover-payments.js';
import { orderRequest } from '../sandbox/order-request.js';

const PAYMENT_MS = 100;
const CREATE_MS = 100;
/** What a renewal may add to a payment. */
const WAIT_MS = 120;
const PER_SECOND = 200;
const RENEWALS = 10;
const MAX_MS = 120_000;
const PEEK_MS = 50;

/** Payments by clients that know nothing of sessions, across renewals that each end the previous session at once. */
export async function benchEgressRenewals(): Promise<readonly BenchLine[]> {
  const timing = { lifetimeMs: 5_000, paymentMs: PAYMENT_MS, createMs: CREATE_MS };
  const fleet = await HandoverFleet.start({ replicas: 2, handover: '1s', ...timing });
  const egresses: BenchEgress[] = [];
  try {
    for (const brokerUrl of fleet.brokerUrls) {
      const access = { brokerUrl, brokerToken: fleet.token, gatewayUrl: fleet.sandboxUrl };
      egresses.push(await BenchEgress.start(access));
    }
    const paying = new Paying(fleet, egresses);
    await paying.untilRenewed(RENEWALS);
    return linesOf(paying, await ledgerOf(fleet, paying.payments));
  } finally {
    for (const egress of egresses) await egress.stop();
    await fleet.close();
  }
}

/** Payments at a steady pace, using the egresses in turn. */
class Paying {
  readonly failed: string[] = [];
  readonly timesMs: number[] = [];
  payments = 0;
  renewals = 0;

  constructor(
    private readonly fleet: HandoverFleet,
    private readonly egresses: readonly BenchEgress[],
  ) {}

  async untilRenewed(times: number): Promise<void> {
    const before = await this.#sessions();
    const startedMs = performance.now();
    const started: Promise<void>[] = [];
    let peekedMs = startedMs;
    while (this.renewals < times && performance.now() - startedMs < MAX_MS) {
      // Paced by the clock, not by the pauses: a late timer does not slow the payments down.
      const due = Math.floor(((performance.now() - startedMs) * PER_SECOND) / 1_000);
      while (started.length < due) started.push(this.#pay(this.egresses[started.length % this.egresses.length]));
      if (performance.now() - peekedMs > PEEK_MS) {
        peekedMs = performance.now();
        this.renewals = (await this.#sessions()) - before;
      }
      await pause(2);
    }
    await Promise.all(started);
    this.payments = started.length;
  }

  async #pay(egress: BenchEgress | undefined): Promise<void> {
    const startedMs = performance.now();
    try {
      const response = await fetch(`${egress?.url}${CREATE_ORDER}`, {
        method: 'POST',
        headers: { ...BenchEgress.headers, 'content-type': 'application/json' },
        body: JSON.stringify(orderRequest()),
      });
      const answer = (await response.json()) as { readonly hppOrderId?: string };
      if (answer.hppOrderId === undefined) this.failed.push(JSON.stringify(answer));
    } catch (error) {
      this.failed.push(String(error));
    }
    this.timesMs.push(performance.now() - startedMs);
  }

  /** How many sessions the gateway has created. */
  async #sessions(): Promise<number> {
    const calls = await this.fleet.control('GET', '/calls?operation=authorize&limit=1');
    return (calls as { readonly matching: number }).matching;
  }
}

function linesOf({ payments, failed, timesMs }: Paying, ledger: HandoverReport['ledger']): BenchLine[] {
  for (const failure of failed.slice(0, 10)) console.error(failure);
  const sum = ledger.lost + ledger.doubled + failed.length;
  return [
    { name: `payments over ${RENEWALS} renewals`, unit: 'payments', values: [payments] },
    {
      name: 'payments refused or repeated',
      unit: 'payments',
      values: [Math.max(ledger.refused, ledger.repeated)],
      most: 0,
    },
    { name: 'payments lost, doubled or failed', unit: 'payments', values: [sum], most: 0 },
    {
      name: 'payment across renewals, p99',
      unit: 'ms',
      values: [percentile(timesMs, 0.99)],
      most: PAYMENT_MS + WAIT_MS,
    },
  ];
}
