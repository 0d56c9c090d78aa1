import { CREATE_ORDER, REFUND } from '../sandbox/payment-desk.js';
import { BenchBroker } from './bench-broker.js';
import { BenchEgress } from './bench-egress.js';
import { type BenchLine, percentile } from './bench-line.js';
import { accessTo, paymentTo, StubGateway } from './egress-bench.js';
import { type OneRequest, timesOf } from './requests.js';
import { inTurns } from './rounds.js';

const ROUNDS = 5;
const ROUND_S = 4;

/**
 * Where the time of a sealed payment goes: each stretch of its way by itself, at the same pace and in turns, and what
 * egress and broker do for it. What the whole takes beyond its stretches is the seal, and waiting for a processor.
 */
export async function benchAccount(): Promise<readonly BenchLine[]> {
  await using broker = await BenchBroker.start();
  await using gateway = await StubGateway.start(broker);
  await using egress = await BenchEgress.start(accessTo(broker, gateway));
  const stretches = {
    'the gateway alone': paymentTo(gateway.url + REFUND),
    'in the clear, through the egress': paymentTo(egress.url + CREATE_ORDER),
    'an answer, opened by the broker': {
      ...paymentTo(`${broker.url}/v1/merchants/shop/payloads/decrypt`),
      headers: { ...BenchBroker.headers, 'content-type': 'application/json' },
      body: () => gateway.sealed,
    },
    'sealed, through the egress': paymentTo(egress.url + REFUND),
  };
  const measure = (request: OneRequest, perSecond: number) => async (): Promise<Readonly<Record<string, number>>> => {
    const before = { egress: egress.process.cpuSeconds(), broker: broker.broker.cpuSeconds() };
    const taken = await timesOf({ ...request, perSecond, seconds: ROUND_S });
    const msOf = (afterS: number, beforeS: number): number => ((afterS - beforeS) * 1_000) / taken.length;
    return {
      p50: percentile(taken, 0.5),
      p99: percentile(taken, 0.99),
      'processor time of the egress': msOf(egress.process.cpuSeconds(), before.egress),
      'processor time of the broker': msOf(broker.broker.cpuSeconds(), before.broker),
    };
  };
  const lines: BenchLine[] = [];
  for (const perSecond of [20, 100]) {
    const contenders = Object.entries(stretches).map(([name, request]) => [name, measure(request, perSecond)] as const);
    for (const [name, rounds] of Object.entries(await inTurns(ROUNDS, Object.fromEntries(contenders))))
      for (const what of Object.keys(rounds[0] ?? {})) {
        const values = rounds.map((round) => round[what] ?? Number.NaN);
        lines.push({ name: `${perSecond}/s: ${name}, ${what}`, unit: 'ms', values });
      }
  }
  return lines;
}
