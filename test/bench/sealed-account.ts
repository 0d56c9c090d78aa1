import { orderRequest } from '../sandbox/order-request.js';
import { BenchBroker } from './bench-broker.js';
import { BenchEgress } from './bench-egress.js';
import type { BenchLine } from './bench-line.js';
import { accessTo, CLEAR, SEALED, StubGateway } from './egress-bench.js';
import { percentile } from './handover-payments.js';
import { timesOf } from './paced-requests.js';

const ROUNDS = 5;
const ROUND_S = 4;

interface Ends {
  readonly broker: BenchBroker;
  readonly gateway: StubGateway;
  readonly egress: BenchEgress;
}

/**
 * Where the time of a sealed payment goes: each stretch of its way by itself, at the same pace and in turns, and what
 * egress and broker do for it. What the whole takes beyond its stretches is the seal, and waiting for a processor.
 */
export async function sealedAccount(): Promise<readonly BenchLine[]> {
  const broker = await BenchBroker.start();
  try {
    const gateway = await StubGateway.start(broker);
    try {
      return await withEgress(broker, gateway);
    } finally {
      await gateway.process.stop();
    }
  } finally {
    await broker.stop();
  }
}

async function withEgress(broker: BenchBroker, gateway: StubGateway): Promise<readonly BenchLine[]> {
  const egress = await BenchEgress.start(accessTo(broker, gateway));
  try {
    const ends = { broker, gateway, egress };
    return [...(await atPace(20, ends)), ...(await atPace(100, ends))];
  } finally {
    await egress.stop();
  }
}

async function atPace(perSecond: number, { broker, gateway, egress }: Ends): Promise<readonly BenchLine[]> {
  const payment = {
    headers: BenchEgress.headers,
    body: JSON.stringify(orderRequest({ merchantRequestId: 'payment-1' })),
  };
  const opening = { headers: BenchBroker.headers, body: gateway.sealed };
  const stretches = {
    'the gateway alone': { ...payment, url: gateway.url + SEALED },
    'in the clear, through the egress': { ...payment, url: egress.url + CLEAR },
    'an answer, opened by the broker': { ...opening, url: `${broker.url}/v1/merchants/shop/payloads/decrypt` },
    'sealed, through the egress': { ...payment, url: egress.url + SEALED },
  };
  const times = new Map<string, number[]>();
  const note = (name: string, ms: number): void => void times.set(name, [...(times.get(name) ?? []), ms]);
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [name, request] of Object.entries(stretches)) {
      const before = { egress: egress.process.cpuSeconds(), broker: broker.broker.cpuSeconds() };
      const taken = await timesOf({ ...request, perSecond, seconds: ROUND_S });
      if (round === 0) continue;
      const msOf = (afterS: number, beforeS: number): number => ((afterS - beforeS) * 1_000) / taken.length;
      note(`${name}, p50`, percentile(taken, 0.5));
      note(`${name}, p99`, percentile(taken, 0.99));
      note(`${name}, processor time of the egress`, msOf(egress.process.cpuSeconds(), before.egress));
      note(`${name}, processor time of the broker`, msOf(broker.broker.cpuSeconds(), before.broker));
    }
  }
  return [...times].map(([name, values]) => ({ name: `${perSecond}/s: ${name}`, unit: 'ms', values }));
}
