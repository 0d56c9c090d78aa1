import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { importPaymentKey, sealJwe } from '#libs/jwe';
import { freePort } from '#libs/testing';
import { orderRequest } from '../sandbox/order-request.js';
import { BenchBroker, TOKEN } from './bench-broker.js';
import { BenchEgress, type BenchEgressOptions } from './bench-egress.js';
import type { BenchLine } from './bench-line.js';
import { BenchProcess, untilOk } from './bench-process.js';
import { benchEgressRenewals } from './egress-renewals.js';
import { percentile } from './handover-payments.js';
import { loadOf } from './load-generator.js';
import { timesOf } from './paced-requests.js';
import type { Round } from './throughput.js';

export const CLEAR = '/ecom/execute_request/hpp/v1/create-order';
export const SEALED = '/ecom/execute_request/payments/v3/refund';
const ANSWER = JSON.stringify({ hppOrderId: 'order-1', hppUrl: 'https://gateway.example/hpp/order-1', status: 'NEW' });
const REST_MS = 10_000;
const MIB = 1_048_576;
const ROUNDS = 5;
const ROUND_S = 4;
const CONNECTIONS = 32;
/** The two proxies share one processor, in turns; gateway and load are on the other. */
const PROXY_CPU = 0;
const GATEWAY_CPU = 1;

/** What a request through the egress costs, compared with the same request straight to the gateway. */
export async function benchEgress(): Promise<readonly BenchLine[]> {
  const broker = await BenchBroker.start();
  try {
    const gateway = await StubGateway.start(broker);
    try {
      return [
        ...(await memoryAndLatency(broker, gateway)),
        ...(await throughput(broker, gateway)),
        ...(await benchEgressRenewals()),
      ];
    } finally {
      await gateway.process.stop();
    }
  } finally {
    await broker.stop();
  }
}

/** Answers at once, in the clear and sealed: what is left to measure is everything in front of it. */
export class StubGateway {
  private constructor(
    readonly process: BenchProcess,
    readonly url: string,
    /** The body of its sealed answer, which is also a request to open it. */
    readonly sealed: string,
  ) {}

  static async start({ publicJwk, folder }: BenchBroker): Promise<StubGateway> {
    const file = join(folder, 'answers.json');
    const jwe = await sealJwe(Buffer.from(ANSWER), await importPaymentKey(publicJwk));
    const sealed = JSON.stringify({ jwe });
    const answers = { [CLEAR]: ANSWER, [SEALED]: sealed };
    await writeFile(file, JSON.stringify(answers));
    const port = await freePort();
    const program = join(import.meta.dirname, 'stub-gateway.js');
    const gateway = new BenchProcess([process.execPath, program, String(port), file], { cpu: GATEWAY_CPU });
    const url = `http://127.0.0.1:${port}`;
    await untilOk(url + CLEAR);
    return new StubGateway(gateway, url, sealed);
  }
}

export const accessTo = (broker: BenchBroker, gateway: StubGateway): BenchEgressOptions => ({
  brokerUrl: broker.url,
  brokerToken: TOKEN,
  gatewayUrl: gateway.url,
});

async function memoryAndLatency(broker: BenchBroker, gateway: StubGateway): Promise<readonly BenchLine[]> {
  const egress = await BenchEgress.start(accessTo(broker, gateway));
  try {
    await pause(REST_MS);
    const restingMib = egress.process.residentBytes() / MIB;
    const way = { egress, gateway };
    return [
      { name: 'memory at rest', unit: 'MiB', values: [restingMib], most: 90 },
      ...(await latency('clear', { ...way, path: CLEAR, perSecond: 200, most: { p50: 1, p99: 3 } })),
      ...(await latency('sealed', { ...way, path: SEALED, perSecond: 20, most: { p50: 5, p99: 10 } })),
      ...(await latency('sealed', { ...way, path: SEALED, perSecond: 100, most: { p50: 5, p99: 12 } })),
      ...(await besideBusyLoop(way)),
    ];
  } finally {
    await egress.stop();
  }
}

interface Ends {
  readonly egress: BenchEgress;
  readonly gateway: StubGateway;
}

/** Something else that uses one processor for as long as it can. */
async function besideBusyLoop(ends: Ends): Promise<readonly BenchLine[]> {
  const loop = new BenchProcess([process.execPath, '-e', 'for (;;);'], {});
  try {
    const what = 'sealed, beside a busy loop';
    return await latency(what, { ...ends, path: SEALED, perSecond: 100, most: { p50: 8, p99: 40 } });
  } finally {
    await loop.stop();
  }
}

interface LatencyPlan extends Ends {
  readonly path: string;
  readonly perSecond: number;
  /** In milliseconds. */
  readonly most: { readonly p50: number; readonly p99: number };
}

/** Rounds that take turns, so that whatever else the machine is doing affects both ways alike. */
async function latency(
  what: string,
  { egress, gateway, path, perSecond, most }: LatencyPlan,
): Promise<readonly BenchLine[]> {
  const added: Record<'p50' | 'p99', number[]> = { p50: [], p99: [] };
  const body = JSON.stringify(orderRequest({ merchantRequestId: 'payment-1' }));
  const timesAt = (url: string): Promise<readonly number[]> =>
    timesOf({ url: url + path, headers: BenchEgress.headers, body, perSecond, seconds: ROUND_S });
  for (let round = 0; round <= ROUNDS; round += 1) {
    const straight = await timesAt(gateway.url);
    const through = await timesAt(egress.url);
    if (round === 0) continue;
    added.p50.push(percentile(through, 0.5) - percentile(straight, 0.5));
    added.p99.push(percentile(through, 0.99) - percentile(straight, 0.99));
  }
  const name = `${what}, ${perSecond}/s: added`;
  return [
    { name: `${name} p50`, unit: 'ms', values: added.p50, most: most.p50 },
    { name: `${name} p99`, unit: 'ms', values: added.p99, most: most.p99 },
  ];
}

async function throughput(broker: BenchBroker, gateway: StubGateway): Promise<readonly BenchLine[]> {
  const egress = await BenchEgress.start({ ...accessTo(broker, gateway), cpu: PROXY_CPU });
  const bare = await startBareProxy(gateway);
  const rounds: Record<'egress' | 'bare', Round[]> = { egress: [], bare: [] };
  try {
    for (let round = 0; round <= ROUNDS; round += 1) {
      const measured = { egress: await load(egress), bare: await load(bare) };
      if (round === 0) continue;
      rounds.egress.push(measured.egress);
      rounds.bare.push(measured.bare);
    }
  } finally {
    await egress.stop();
    await bare.process.stop();
  }
  const line = (name: string, pick: (round: Round) => number): BenchLine => ({
    name,
    unit: '1/s',
    values: rounds.egress.map(pick),
    beside: { what: 'a bare proxy of node:http and undici', values: rounds.bare.map(pick) },
    least: 0.85,
  });
  return [
    line('clear requests per second', ({ perSecond }) => perSecond),
    line('clear requests per processor second', ({ perCpuSecond }) => perCpuSecond),
  ];
}

type Contender = Pick<BenchEgress, 'process' | 'url'>;

async function startBareProxy(gateway: StubGateway): Promise<Contender> {
  const port = await freePort();
  const program = join(import.meta.dirname, 'bare-proxy.js');
  const proxy = new BenchProcess([process.execPath, program, String(port), gateway.url], { cpu: PROXY_CPU });
  const url = `http://127.0.0.1:${port}`;
  await untilOk(url + CLEAR);
  return { process: proxy, url };
}

async function load({ process: proxy, url }: Contender): Promise<Round> {
  const before = proxy.cpuSeconds();
  const result = await loadOf({
    url: url + CLEAR,
    method: 'POST',
    headers: { ...BenchEgress.headers, 'content-type': 'application/json' },
    body: JSON.stringify(orderRequest({ merchantRequestId: 'payment-1' })),
    connections: CONNECTIONS,
    duration: ROUND_S,
  });
  const failed = result.non2xx + result.errors;
  if (failed > 0) throw new Error(`${url}: ${failed} requests failed`);
  const { total } = result.requests;
  return { perSecond: total / result.duration, perCpuSecond: total / (proxy.cpuSeconds() - before) };
}
