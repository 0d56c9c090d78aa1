import { TOKEN } from '../observability/watched-replicas.js';
import { orderRequest } from '../sandbox/order-request.js';
import { CREATE_ORDER } from '../sandbox/payment-desk.js';
import { BenchEgress } from './bench-egress.js';
import { type BenchLine, percentile } from './bench-line.js';
import { startFleet } from './handover-fleet.js';
import { ledgerOf } from './handover-payments.js';
import { atPace } from './rounds.js';

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
  await using fleet = await startFleet({ replicas: 2, handover: '1s', ...timing });
  const [first, second] = fleet.replicas;
  const access = { brokerToken: TOKEN, gatewayUrl: fleet.sandboxUrl };
  await using one = await BenchEgress.start({ ...access, brokerUrl: first?.url ?? '' });
  await using other = await BenchEgress.start({ ...access, brokerUrl: second?.url ?? '' });
  const failed: string[] = [];
  const pay = async (index: number): Promise<number> => {
    const startedMs = performance.now();
    try {
      const response = await fetch((index % 2 === 0 ? one : other).url + CREATE_ORDER, {
        method: 'POST',
        headers: BenchEgress.headers,
        body: JSON.stringify(orderRequest()),
      });
      const answer = (await response.json()) as { readonly hppOrderId?: string };
      if (answer.hppOrderId === undefined) failed.push(JSON.stringify(answer));
    } catch (error) {
      failed.push(String(error));
    }
    return performance.now() - startedMs;
  };
  const before = await fleet.createCalls();
  let renewals = 0;
  const peeking = setInterval(() => void fleet.createCalls().then((all) => (renewals = all - before)), PEEK_MS);
  const endsAt = performance.now() + MAX_MS;
  const timesMs = await atPace(PER_SECOND, pay, () => renewals < RENEWALS && performance.now() < endsAt);
  clearInterval(peeking);
  const ledger = await ledgerOf(fleet, timesMs.length);
  for (const failure of failed.slice(0, 10)) console.error(failure);
  const [refused, lost] = [Math.max(ledger.refused, ledger.repeated), ledger.lost + ledger.doubled + failed.length];
  const waited = percentile(timesMs, 0.99);
  return [
    { name: `payments over ${RENEWALS} renewals`, unit: 'payments', values: [timesMs.length] },
    { name: 'payments refused or repeated', unit: 'payments', values: [refused], most: 0 },
    { name: 'payments lost, doubled or failed', unit: 'payments', values: [lost], most: 0 },
    { name: 'payment across renewals, p99', unit: 'ms', values: [waited], most: PAYMENT_MS + WAIT_MS },
  ];
}
