import { orderRequest } from '../sandbox/order-request.js';
import { CREATE_ORDER } from '../sandbox/payment-desk.js';
import { BenchBroker, TOKEN } from './bench-broker.js';
import { BenchEgress } from './bench-egress.js';
import { type BenchLine, percentile } from './bench-line.js';
import { BenchProcess } from './bench-process.js';
import { type OneRequest, timesOf } from './requests.js';

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
/** The limits of the manifests. */
const BROKER_MIB = 320;
const EGRESS_MIB = 224;

/**
 * What clients without a credential do to the others, and to a program within the memory limit of the manifests. Needs
 * a control group of its own for each program, which only root can make.
 */
export async function benchStarvation(): Promise<readonly BenchLine[]> {
  await using running = await BenchBroker.start({ memoryMib: BROKER_MIB });
  const { sessionUrl, url: brokerUrl, parts } = running;
  const broker = await attacked({
    ...{ name: 'broker', limitMib: BROKER_MIB, process: running.broker, ...parts },
    served: { method: 'GET', headers: BenchBroker.headers, url: sessionUrl },
  });
  const access = { brokerUrl, gatewayUrl: parts.sandboxUrl, brokerToken: TOKEN };
  await using egress = await BenchEgress.start({ ...access, memoryMib: EGRESS_MIB });
  const body = (): string => JSON.stringify(orderRequest());
  const ofEgress = await attacked({
    ...{ name: 'egress', limitMib: EGRESS_MIB, process: egress.process },
    ...{ url: egress.url, managementUrl: egress.managementUrl },
    served: { method: 'POST', headers: BenchEgress.headers, url: egress.url + CREATE_ORDER, body },
  });
  return [...broker, ...ofEgress];
}

interface Attacked {
  readonly name: string;
  readonly limitMib: number;
  readonly process: BenchProcess;
  readonly url: string;
  readonly managementUrl: string;
  readonly served: OneRequest;
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
    for (const attacker of attackers) await attacker[Symbol.asyncDispose]();
  }
}

function attack(url: string, of: { path: string; kind: string; connections: number }): BenchProcess {
  const { port } = new URL(url);
  return BenchProcess.of('starving-clients', [port, of.path, of.kind, String(of.connections), String(ATTACK_S)]);
}

interface Watched {
  readonly served: readonly number[];
  readonly probes: readonly number[];
  readonly mostMib: number;
}

/** A well-behaved caller and a probe, for this many seconds. @throws Error if one of their requests fails */
async function watched({ process: target, served, managementUrl }: Attacked, seconds: number): Promise<Watched> {
  let mostMib = 0;
  const looking = setInterval(() => (mostMib = Math.max(mostMib, target.residentMib())), 50);
  const probe = { method: 'GET', headers: {}, url: `${managementUrl}/livez` } as const;
  try {
    const [times, probes] = await Promise.all([
      timesOf({ ...served, perSecond: PER_SECOND, seconds }),
      timesOf({ ...probe, perSecond: PROBES_PER_SECOND, seconds, connectsAnew: true }),
    ]);
    return { served: times, probes, mostMib };
  } finally {
    clearInterval(looking);
  }
}
