import { Agent, type ClientRequest, type OutgoingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { orderRequest } from '../sandbox/order-request.js';
import { BenchBroker, TOKEN } from './bench-broker.js';
import { BenchEgress } from './bench-egress.js';
import type { BenchLine } from './bench-line.js';
import { BenchProcess } from './bench-process.js';
import { percentile } from './handover-payments.js';

const IDLE_S = 10;
const ATTACK_S = 60;
/** Far more than there are places. */
const ATTACKERS = [
  ['pipelines', 2_000],
  ['heads', 3_500],
  ['bodies', 1_500],
] as const;
const PROBERS = 300;
const PER_SECOND = 50;
const PROBES_PER_SECOND = 10;
const MIB = 1_048_576;
/** The limits of the manifests. */
const BROKER_MIB = 320;
const EGRESS_MIB = 224;
const SESSION = '/v1/merchants/shop/session';
const CREATE_ORDER = '/ecom/execute_request/hpp/v1/create-order';

/**
 * What clients without a credential do to the others, and to a program within the memory limit of the manifests. Needs
 * a control group of its own for each program, which only root can make.
 */
export async function benchStarvation(): Promise<readonly BenchLine[]> {
  const running = await BenchBroker.start({ memoryMib: BROKER_MIB });
  try {
    const reads = { method: 'GET', headers: BenchBroker.headers, url: running.url + SESSION, body: () => '' };
    const broker = await attacked({
      name: 'broker',
      limitMib: BROKER_MIB,
      process: running.broker,
      served: reads,
      ...running,
    });
    const { url: brokerUrl, sandboxUrl: gatewayUrl } = running;
    const egress = await BenchEgress.start({ brokerUrl, gatewayUrl, brokerToken: TOKEN, memoryMib: EGRESS_MIB });
    try {
      const headers = { ...BenchEgress.headers, 'content-type': 'application/json' };
      const body = (): string => JSON.stringify(orderRequest());
      const served = { method: 'POST', headers, url: egress.url + CREATE_ORDER, body };
      return [...broker, ...(await attacked({ name: 'egress', limitMib: EGRESS_MIB, served, ...egress }))];
    } finally {
      await egress.stop();
    }
  } finally {
    await running.stop();
  }
}

interface Served {
  readonly method: string;
  readonly url: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: () => string;
}

interface Attacked {
  readonly name: string;
  readonly limitMib: number;
  readonly process: BenchProcess;
  readonly url: string;
  readonly managementUrl: string;
  readonly served: Served;
}

async function attacked(program: Attacked): Promise<readonly BenchLine[]> {
  const { name, limitMib, served, url, managementUrl } = program;
  const idle = await watched(program, IDLE_S);
  const { pathname } = new URL(served.url);
  const attackers = [
    ...ATTACKERS.map(([kind, connections]) => attack(url, { path: pathname, kind, connections })),
    attack(managementUrl, { path: '/livez', kind: 'heads', connections: PROBERS }),
  ];
  try {
    const under = await watched(program, ATTACK_S);
    const line = (what: string, value: number, goal: Pick<BenchLine, 'unit' | 'most'>): BenchLine => {
      return { name: `${name}: ${what}`, values: [value], ...goal };
    };
    return [
      line(`most memory in ${ATTACK_S} s`, under.mostMib, { unit: 'MiB', most: limitMib }),
      line('slowest /livez', Math.max(...under.probes), { unit: 'ms', most: 1_000 }),
      line('slowest /livez without attackers', Math.max(...idle.probes), { unit: 'ms' }),
      line('p99 of a good caller', percentile(under.served, 0.99), { unit: 'ms' }),
      line('the same without attackers', percentile(idle.served, 0.99), { unit: 'ms' }),
    ];
  } finally {
    for (const attacker of attackers) await attacker.stop();
  }
}

function attack(url: string, of: { path: string; kind: string; connections: number }): BenchProcess {
  const program = join(import.meta.dirname, 'starving-clients.js');
  const { port } = new URL(url);
  return new BenchProcess(
    [process.execPath, program, port, of.path, of.kind, String(of.connections), String(ATTACK_S)],
    {},
  );
}

interface Watched {
  readonly served: readonly number[];
  readonly probes: readonly number[];
  readonly mostMib: number;
}

/** A well-behaved caller and a probe, for this many seconds. @throws Error if one of their requests fails */
async function watched({ process: target, served, managementUrl }: Attacked, seconds: number): Promise<Watched> {
  let mostMib = 0;
  const looking = setInterval(() => (mostMib = Math.max(mostMib, target.residentBytes() / MIB)), 50);
  const probe = { method: 'GET', headers: {}, url: `${managementUrl}/livez`, body: () => '' };
  try {
    const [times, probes] = await Promise.all([
      timesOf(served, { perSecond: PER_SECOND, seconds, agent: new Agent({ keepAlive: true }) }),
      timesOf(probe, { perSecond: PROBES_PER_SECOND, seconds, agent: new Agent() }),
    ]);
    return { served: times, probes, mostMib };
  } finally {
    clearInterval(looking);
  }
}

interface Pace {
  readonly perSecond: number;
  readonly seconds: number;
  readonly agent: Agent;
}

/** At a steady pace, whether or not earlier ones have been answered. @throws Error at an answer that is not 200 */
async function timesOf(served: Served, { perSecond, seconds, agent }: Pace): Promise<readonly number[]> {
  const sent: Promise<number>[] = [];
  const startedAt = performance.now();
  while (sent.length < perSecond * seconds) {
    const due = Math.floor(((performance.now() - startedAt) * perSecond) / 1_000);
    if (sent.length < due) sent.push(timeOf(served, agent));
    else await pause(1);
  }
  try {
    return await Promise.all(sent);
  } finally {
    agent.destroy();
  }
}

function timeOf({ url, method, headers, body }: Served, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const asked: ClientRequest = request(url, { agent, method, headers }, (response) => {
      response.resume().on('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - startedAt);
        else reject(new Error(`${url} answered ${response.statusCode}`));
      });
    });
    asked.on('error', reject).end(body());
  });
}
