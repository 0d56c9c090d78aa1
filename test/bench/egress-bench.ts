import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { importPaymentKey, sealJwe } from '#libs/jwe';
import { freePort } from '#libs/testing';
import { orderRequest } from '../sandbox/order-request.js';
import { BenchBroker, TOKEN } from './bench-broker.js';
import { BenchEgress } from './bench-egress.js';
import type { BenchLine } from './bench-line.js';
import { BenchProcess, untilOk } from './bench-process.js';
import { benchEgressRenewals } from './egress-renewals.js';
import { percentile } from './handover-payments.js';
import { loadOf } from './load-generator.js';
import { timesOf } from './paced-requests.js';

const CLEAR = '/ecom/execute_request/hpp/v1/create-order';
const SEALED = '/ecom/execute_request/payments/v3/refund';
const ANSWER = JSON.stringify({ hppOrderId: 'order-1', hppUrl: 'https://gateway.example/hpp/order-1', status: 'NEW' });
const REST_MS = 10_000;
const MIB = 1_048_576;
const MAX_MIB = 90;
const ROUNDS = 5;
const ROUND_S = 4;
/** In a round: fewer say nothing of the slowest hundredth. */
const MIN_REQUESTS = 200;
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
class StubGateway {
  private constructor(
    readonly process: BenchProcess,
    readonly url: string,
  ) {}

  static async start({ publicJwk, folder }: BenchBroker): Promise<StubGateway> {
    const file = join(folder, 'answers.json');
    const jwe = await sealJwe(Buffer.from(ANSWER), await importPaymentKey(publicJwk));
    const answers = { [CLEAR]: ANSWER, [SEALED]: JSON.stringify({ jwe }) };
    await writeFile(file, JSON.stringify(answers));
    const port = await freePort();
    const program = join(import.meta.dirname, 'stub-gateway.js');
    const gateway = new BenchProcess([process.execPath, program, String(port), file], { cpu: GATEWAY_CPU });
    const url = `http://127.0.0.1:${port}`;
    await untilOk(url + CLEAR);
    return new StubGateway(gateway, url);
  }
}

const accessTo = (broker: BenchBroker, gateway: StubGateway) => ({
  brokerUrl: broker.url,
  brokerToken: TOKEN,
  gatewayUrl: gateway.url,
});

async function memoryAndLatency(broker: BenchBroker, gateway: StubGateway): Promise<readonly BenchLine[]> {
  const egress = await BenchEgress.start(accessTo(broker, gateway));
  try {
    await pause(REST_MS);
    const restingMib = egress.process.residentBytes() / MIB;
    const clear = await latency({ egress, gateway, path: CLEAR, perSecond: 200 });
    const sealed = await latency({ egress, gateway, path: SEALED, perSecond: 100 });
    const seldom = await latency({ egress, gateway, path: SEALED, perSecond: 20 });
    return [
      {
        name: `memory of an egress ${REST_MS / 1_000} s after its start`,
        value: restingMib,
        unit: 'MiB',
        ratio: restingMib / MAX_MIB,
        atMost: 1,
        baseline: `${MAX_MIB} MiB`,
      },
      ...latencyLines('a clear request, 200/s', clear, { p50: 1, p99: 3 }),
      ...latencyLines('a request sealed both ways, 100/s', sealed, { p50: 5, p99: 12 }),
      ...latencyLines('a request sealed both ways, 20/s', seldom, { p50: 5, p99: 10 }),
    ];
  } finally {
    await egress.stop();
  }
}

interface LatencyPlan {
  readonly egress: BenchEgress;
  readonly gateway: StubGateway;
  readonly path: string;
  readonly perSecond: number;
}

type Way = 'straight' | 'through';
type Times = Readonly<Record<Way, readonly (readonly number[])[]>>;

/** Rounds that take turns, so that whatever else the machine is doing affects both ways alike. */
async function latency({ egress, gateway, path, perSecond }: LatencyPlan): Promise<Times> {
  const times: Record<Way, (readonly number[])[]> = { straight: [], through: [] };
  const urls = { straight: gateway.url + path, through: egress.url + path };
  const request = {
    headers: BenchEgress.headers,
    body: JSON.stringify(orderRequest({ merchantRequestId: 'payment-1' })),
    perSecond,
  };
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const way of ['straight', 'through'] as const) {
      const seconds = Math.max(ROUND_S, MIN_REQUESTS / perSecond);
      const measured = await timesOf({ ...request, url: urls[way], seconds });
      if (round > 0) times[way].push(measured);
    }
  }
  return times;
}

function latencyLines(
  what: string,
  { straight, through }: Times,
  goals: { readonly p50: number; readonly p99: number },
): readonly BenchLine[] {
  const line = (name: string, share: number, goalMs: number): BenchLine => {
    const middle = (rounds: Times[Way]): number => median(rounds.map((times) => percentile(times, share)));
    const [straightMs, value] = [middle(straight), middle(through) - middle(straight)];
    const baseline = `${goalMs} ms, beside the same straight (${straightMs.toFixed(2)} ms)`;
    return { name: `${what}: added ${name}`, value, unit: 'ms', ratio: value / goalMs, atMost: 1, baseline };
  };
  return [line('p50', 0.5, goals.p50), line('p99', 0.99, goals.p99)];
}

interface Round {
  readonly perSecond: number;
  readonly perCpuSecond: number;
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
  const line = (name: string, pick: (round: Round) => number): BenchLine => {
    const value = median(rounds.egress.map(pick));
    const ratio = value / median(rounds.bare.map(pick));
    return { name, value, unit: '1/s', ratio, goal: 0.8, baseline: 'a bare proxy of node:http and undici' };
  };
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

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
