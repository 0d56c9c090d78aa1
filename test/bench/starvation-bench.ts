import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { BenchBroker } from './bench-broker.js';
import type { BenchLine } from './bench-line.js';
import { BenchProcess } from './bench-process.js';
import { load } from './http-bench.js';
import { percentile } from './handover-payments.js';

const WARM_UP_ROUNDS = 3;
const IDLE_S = 20;
const ATTACK_S = 60;
const REST_S = 60;
const CALLERS = 200;
const PROBERS = 50;
const READS_PER_SECOND = 100;
const PROBES_PER_SECOND = 10;
const MIB = 1_048_576;
/** The limit of the manifests. */
const POD_MIB = 320;
const BROKER_CPU = 0;
const OTHERS_CPU = 1;

/** What callers that pipeline requests and never read do to the others, and to the replica's memory. */
export async function benchStarvation(): Promise<readonly BenchLine[]> {
  const running = await BenchBroker.start({ brokerCpu: BROKER_CPU, sandboxCpu: OTHERS_CPU });
  try {
    // Memory is compared with a replica that has worked: before it has, its heap is smaller than it will ever be again.
    for (let round = 0; round < WARM_UP_ROUNDS; round += 1) {
      await load({ server: running.broker, url: running.sessionUrl, headers: BenchBroker.headers, rounds: [] });
    }
    const idle = await served(running, IDLE_S);
    const restingMib = running.broker.residentBytes() / MIB;
    const attackers = [
      attack(running.url, { path: '/v1/merchants/shop/session', connections: CALLERS }),
      attack(running.managementUrl, { path: '/livez', connections: PROBERS }),
    ];
    const attacked = await served(running, ATTACK_S);
    for (const attacker of attackers) await attacker.stop();
    await pause(REST_S * 1_000);
    const restedMib = running.broker.residentBytes() / MIB;
    return linesOf({ idle, attacked, restingMib, restedMib });
  } finally {
    await running.stop();
  }
}

interface Served {
  readonly reads: readonly number[];
  readonly probes: readonly number[];
  readonly mostMib: number;
}

interface Measured {
  readonly idle: Served;
  readonly attacked: Served;
  readonly restingMib: number;
  readonly restedMib: number;
}

function linesOf({ idle, attacked, restingMib, restedMib }: Measured): readonly BenchLine[] {
  const under = `under ${CALLERS} connections to the API and ${PROBERS} to the management port that read nothing`;
  const idleP99 = percentile(idle.reads, 0.99);
  const attackedP99 = percentile(attacked.reads, 0.99);
  const slowest = Math.max(...attacked.probes);
  const ms = (value: number): string => value.toFixed(2);
  return [
    {
      name: `read of a session, p99 ${under}`,
      value: attackedP99,
      unit: 'ms',
      ratio: attackedP99 / idleP99,
      atMost: 3,
      baseline: `the same without them (${ms(idleP99)} ms)`,
    },
    {
      name: `/livez, the slowest of ${attacked.probes.length}`,
      value: slowest,
      unit: 'ms',
      ratio: slowest / 100,
      atMost: 1,
      baseline: `100 ms; p99 ${ms(percentile(attacked.probes, 0.99))} ms, without them ${ms(Math.max(...idle.probes))} ms at most`,
    },
    {
      name: `memory, the most within ${ATTACK_S} s`,
      value: attacked.mostMib,
      unit: 'MiB',
      ratio: attacked.mostMib / POD_MIB,
      atMost: 1,
      baseline: `${POD_MIB} MiB, the limit of the manifests`,
    },
    {
      name: `memory ${REST_S} s after they left`,
      value: restedMib,
      unit: 'MiB',
      ratio: restedMib / restingMib,
      atMost: 1.1,
      baseline: `before (${ms(restingMib)} MiB)`,
    },
  ];
}

function attack(url: string, { path, connections }: { path: string; connections: number }): BenchProcess {
  const program = join(import.meta.dirname, 'starving-clients.js');
  const { port } = new URL(url);
  const command = [process.execPath, program, port, path, String(connections), String(ATTACK_S)];
  return new BenchProcess(command, { cpu: OTHERS_CPU });
}

/** A well-behaved caller and a probe, for this many seconds. */
async function served({ broker, sessionUrl, managementUrl }: BenchBroker, seconds: number): Promise<Served> {
  let mostMib = 0;
  const looking = setInterval(() => (mostMib = Math.max(mostMib, broker.residentBytes() / MIB)), 50);
  const [reads, probes] = await Promise.all([
    timesOf({ url: sessionUrl, perSecond: READS_PER_SECOND, seconds }),
    timesOf({ url: `${managementUrl}/livez`, perSecond: PROBES_PER_SECOND, seconds }),
  ]);
  clearInterval(looking);
  return { reads, probes, mostMib };
}

interface Pace {
  readonly url: string;
  readonly perSecond: number;
  readonly seconds: number;
}

/** At a steady pace, whether or not earlier ones have been answered. @throws Error at an answer that is not 200 */
async function timesOf({ url, perSecond, seconds }: Pace): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true });
  const sent: Promise<number>[] = [];
  const startedAt = performance.now();
  while (sent.length < perSecond * seconds) {
    const due = Math.floor(((performance.now() - startedAt) * perSecond) / 1_000);
    if (sent.length < due) sent.push(timeOf(url, agent));
    else await pause(1);
  }
  try {
    return await Promise.all(sent);
  } finally {
    agent.destroy();
  }
}

function timeOf(url: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const asked = get(url, { agent, headers: BenchBroker.headers }, (response) => {
      response.resume().on('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - startedAt);
        else reject(new Error(`${url} answered ${response.statusCode}`));
      });
    });
    asked.on('error', reject);
  });
}
