import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { importPaymentKey, sealJwe } from '#libs/jwe';
import { freePort } from '#libs/testing';
import { orderRequest } from '../sandbox/order-request.js';
import { CREATE_ORDER, REFUND } from '../sandbox/payment-desk.js';
import { BenchBroker, TOKEN } from './bench-broker.js';
import { BenchEgress, type BenchEgressOptions } from './bench-egress.js';
import { type BenchLine, percentile } from './bench-line.js';
import { BenchProcess, OTHER_CPU, SERVER_CPU, untilOk } from './bench-process.js';
import { benchEgressRenewals } from './egress-renewals.js';
import { type OneRequest, paceUnder, timesOf } from './requests.js';
import { inTurns, type Pace, paceLines } from './rounds.js';

const ANSWER = JSON.stringify({ hppOrderId: 'order-1', hppUrl: 'https://gateway.example/hpp/order-1', status: 'NEW' });
const REST_MS = 10_000;
const ROUNDS = 5;
const ROUND_S = 4;
const CONNECTIONS = 32;

/** What a request through the egress costs, compared with the same request straight to the gateway. */
export async function benchEgress(): Promise<readonly BenchLine[]> {
  await using broker = await BenchBroker.start();
  await using gateway = await StubGateway.start(broker);
  return [
    ...(await memoryAndLatency(broker, gateway)),
    ...(await throughput(broker, gateway)),
    ...(await benchEgressRenewals()),
  ];
}

/** Answers at once, in the clear and sealed: what is left to measure is everything in front of it. */
class StubGateway {
  private constructor(
    readonly process: BenchProcess,
    readonly url: string,
  ) {}

  static async start({ parts }: BenchBroker): Promise<StubGateway> {
    const file = join(parts.folder, 'answers.json');
    const jwe = await sealJwe(Buffer.from(ANSWER), await importPaymentKey(parts.publicJwk));
    await writeFile(file, JSON.stringify({ [CREATE_ORDER]: ANSWER, [REFUND]: JSON.stringify({ jwe }) }));
    const port = await freePort();
    const gateway = BenchProcess.of('stub-gateway', [String(port), file], { cpu: OTHER_CPU });
    const url = `http://127.0.0.1:${port}`;
    await untilOk(url + CREATE_ORDER);
    return new StubGateway(gateway, url);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.process[Symbol.asyncDispose]();
  }
}

const accessTo = (broker: BenchBroker, gateway: StubGateway): BenchEgressOptions => ({
  brokerUrl: broker.url,
  brokerToken: TOKEN,
  gatewayUrl: gateway.url,
});

const BODY = JSON.stringify(orderRequest({ merchantRequestId: 'payment-1' }));

/** The same payment each time, which is nothing to the gateway. */
const paymentTo = (url: string): OneRequest => ({
  ...{ url, method: 'POST', headers: BenchEgress.headers },
  body: () => BODY,
});

async function memoryAndLatency(broker: BenchBroker, gateway: StubGateway): Promise<readonly BenchLine[]> {
  await using egress = await BenchEgress.start(accessTo(broker, gateway));
  await pause(REST_MS);
  const restingMib = egress.process.residentMib();
  const way = { straight: gateway.url, through: egress.url };
  const lines = [
    { name: 'memory at rest', unit: 'MiB', values: [restingMib], most: 90 },
    ...(await latency('clear', { ...way, path: CREATE_ORDER, perSecond: 200, most: { p50: 1, p99: 3 } })),
    ...(await latency('sealed', { ...way, path: REFUND, perSecond: 20, most: { p50: 5, p99: 10 } })),
    ...(await latency('sealed', { ...way, path: REFUND, perSecond: 100, most: { p50: 5, p99: 12 } })),
  ];
  // Something else that uses one processor for as long as it can.
  await using _loop = new BenchProcess([process.execPath, '-e', 'for (;;);']);
  const beside = { ...way, path: REFUND, perSecond: 100, most: { p50: 8, p99: 40 } };
  return [...lines, ...(await latency('sealed, beside a busy loop', beside))];
}

interface LatencyPlan {
  readonly straight: string;
  readonly through: string;
  readonly path: string;
  readonly perSecond: number;
  /** In milliseconds. */
  readonly most: { readonly p50: number; readonly p99: number };
}

async function latency(what: string, plan: LatencyPlan): Promise<readonly BenchLine[]> {
  const { path, perSecond, most } = plan;
  const timesAt = (url: string): Promise<readonly number[]> =>
    timesOf({ ...paymentTo(url + path), perSecond, seconds: ROUND_S });
  const { straight, through } = await inTurns(ROUNDS, {
    straight: () => timesAt(plan.straight),
    through: () => timesAt(plan.through),
  });
  const added = (share: number): readonly number[] =>
    through.map((times, round) => percentile(times, share) - percentile(straight[round] ?? [], share));
  const name = `${what}, ${perSecond}/s: added`;
  return [
    { name: `${name} p50`, unit: 'ms', values: added(0.5), most: most.p50 },
    { name: `${name} p99`, unit: 'ms', values: added(0.99), most: most.p99 },
  ];
}

async function throughput(broker: BenchBroker, gateway: StubGateway): Promise<readonly BenchLine[]> {
  await using egress = await BenchEgress.start({ ...accessTo(broker, gateway), cpu: SERVER_CPU });
  const port = await freePort();
  await using proxy = BenchProcess.of('bare-proxy', [String(port), gateway.url], { cpu: SERVER_CPU });
  const proxyUrl = `http://127.0.0.1:${port}`;
  await untilOk(proxyUrl + CREATE_ORDER);
  const load = (url: string, server: BenchProcess): Promise<Pace> => {
    const payment = { url: url + CREATE_ORDER, method: 'POST', headers: BenchEgress.headers, body: BODY } as const;
    return paceUnder({ ...payment, connections: CONNECTIONS, duration: ROUND_S }, server);
  };
  const { ours, bare } = await inTurns(ROUNDS, {
    ours: () => load(egress.url, egress.process),
    bare: () => load(proxyUrl, proxy),
  });
  const least = { perSecond: 0.85, perCpuSecond: 0.85 };
  return paceLines('clear requests', { ours, bare, what: 'a bare proxy of node:http and undici', least });
}
