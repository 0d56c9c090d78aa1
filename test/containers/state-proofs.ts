import { eventually } from '#libs/testing';
import { orderRequest } from '../sandbox/order-request.js';
import { type Demo, type Inspected, PROGRAMS, REPLICAS } from './demo.js';
import { docker } from './engine.js';
import { finding, type Finding, type Proof } from './proof.js';

const SCRAPED_WITHIN_MS = 60_000;
const TARGETS = 4;
const MAX_STOP_MS = 15_000;

/** Run in a container: shows what its process may do, as the kernel reports it and by trying. */
const RIGHTS = `
  const fs = require('node:fs');
  const status = fs.readFileSync('/proc/self/status', 'utf8');
  const field = (name) => new RegExp('^' + name + ':\\\\s+(\\\\S+)', 'm').exec(status)?.[1];
  let write = 'done';
  try { fs.writeFileSync('/app/written', ''); } catch (error) { write = error.code; }
  console.log([process.getuid(), process.getgid(), field('CapEff'), field('CapBnd'), field('NoNewPrivs'), write].join(' '));
`;

const isConfined = ({ Config, HostConfig }: Inspected): boolean =>
  HostConfig.ReadonlyRootfs &&
  (HostConfig.CapDrop ?? []).includes('ALL') &&
  (HostConfig.CapAdd ?? []).length === 0 &&
  (HostConfig.SecurityOpt ?? []).includes('no-new-privileges:true') &&
  Config.User === '10001:10001';

async function rights(demo: Demo): Promise<Finding> {
  const wrong: Record<string, boolean> = {};
  const seen = new Set<string>();
  for (const name of PROGRAMS) {
    wrong[`${name} is not confined`] = !isConfined(await demo.inspect(name));
    seen.add((await demo.inContainer(name, 'node', '-e', RIGHTS)).trim());
  }
  const none = '0000000000000000';
  wrong['the kernel says otherwise'] = [...seen].join() !== `10001 10001 ${none} ${none} 1 EROFS`;
  const [uid, gid, effective, bounding, noNew, write] = ([...seen][0] ?? '').split(' ');
  return finding(
    `${PROGRAMS.length} containers: ${uid}:${gid}, capabilities ${effective} of ${bounding}, no_new_privs ${noNew}, a write ends with ${write}`,
    wrong,
  );
}

async function ports(demo: Demo): Promise<Finding> {
  const published: string[] = [];
  for (const name of [...PROGRAMS, 'balancer', 'prometheus', 'redis']) {
    const { HostConfig } = await demo.inspect(name);
    for (const [port, bindings] of Object.entries(HostConfig.PortBindings ?? {}))
      for (const { HostIp } of bindings ?? []) published.push(`${HostIp}:${port.replace('/tcp', '')}`);
  }
  return finding(published.join(', '), {
    'a port for others': published.some((address) => !address.startsWith('127.0.0.1:')),
    'no port': published.length === 0,
  });
}

interface Answer<Data> {
  readonly data: Data;
}
interface Targets {
  readonly activeTargets: readonly { readonly health: string; readonly lastError: string }[];
}
interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly health: string; readonly name: string }[] }[];
}

async function monitoring(demo: Demo): Promise<Finding> {
  const asked = async <Data>(path: string): Promise<Data> =>
    (JSON.parse(await demo.ask(`9090/api/v1/${path}`)) as Answer<Data>).data;
  const targets = async (): Promise<Targets['activeTargets']> => (await asked<Targets>('targets')).activeTargets;
  const rules = async (): Promise<Rules['groups'][number]['rules']> =>
    (await asked<Rules>('rules')).groups.flatMap((group) => group.rules);
  const isSettled = async (): Promise<boolean> =>
    (await targets()).every(({ health }) => health === 'up') &&
    (await rules()).every(({ health }) => health !== 'unknown');
  await eventually(isSettled, SCRAPED_WITHIN_MS).catch(() => undefined);
  const [scraped, evaluated] = [await targets(), await rules()];
  const up = scraped.filter(({ health }) => health === 'up').length;
  const ill = evaluated.filter(({ health }) => health !== 'ok').map(({ name }) => name);
  return finding(
    `${up} of ${scraped.length} targets up; ${evaluated.length - ill.length} of ${evaluated.length} rules evaluated`,
    {
      'a target that is not scraped': up !== TARGETS || scraped.length !== TARGETS,
      [`rules that fail: ${ill.join(', ')}`]: ill.length > 0,
      'no rules': evaluated.length === 0,
    },
  );
}

async function payment(demo: Demo): Promise<Finding> {
  const path = '8090/ecom/execute_request/hpp/v1/create-order';
  const headers = ['-H', 'authorization: Bearer demo-token', '-H', 'content-type: application/json'];
  const answer = await demo.ask(
    path,
    ...headers,
    '-d',
    JSON.stringify(orderRequest({ merchantId: 'demo' })),
    '-w',
    ' %{http_code}',
  );
  const status = answer.slice(-3);
  const state = /"orderStatus":"(\w+)"/.exec(answer)?.[1] ?? answer.slice(0, 200);
  return finding(`${status}, the order is ${state}`, { 'no order': status !== '200' || state !== 'CREATED' });
}

/** As process 1 of its container it has no default action for a signal. */
async function stop(demo: Demo): Promise<Finding> {
  const startedMs = performance.now();
  await docker(demo.engine, 'stop', '--time', '20', demo.nameOf('broker-3'));
  const tookMs = performance.now() - startedMs;
  const { ExitCode } = (await demo.inspect('broker-3')).State;
  return finding(`stopped in ${(tookMs / 1_000).toFixed(1)} s with code ${ExitCode}`, {
    'it did not end by itself': ExitCode !== 0 || tookMs > MAX_STOP_MS,
  });
}

async function logs(demo: Demo): Promise<Finding> {
  const texts = await Promise.all([...REPLICAS, 'egress'].map((name) => demo.log(name)));
  const lines = texts.flatMap((text) => text.split('\n')).filter((line) => line !== '');
  const raw = lines.filter((line) => !line.startsWith('{') || !isJson(line));
  return finding(`${lines.length} lines, ${raw.length} of them no JSON`, {
    [`raw: ${raw[0]?.slice(0, 160)}`]: raw.length > 0,
    'no line at all': lines.length === 0,
  });
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** What holds for a running demo. */
export const stateProofs: readonly Proof[] = [
  { what: 'read-only root, user and capabilities of each container of ours', look: rights },
  { what: 'published ports', look: ports },
  { what: 'a payment through the egress', look: payment },
  { what: 'scrape and rules on Prometheus', look: monitoring },
];

/** What is looked at last. */
export const lastProofs: readonly Proof[] = [
  { what: '`docker stop` of a replica', look: stop },
  { what: 'the log of replicas and egress', look: logs },
];
