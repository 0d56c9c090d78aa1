import { freePort } from '#libs/testing';
import { BenchBroker } from './bench-broker.js';
import type { BenchLine } from './bench-line.js';
import type { BenchProcess } from './bench-process.js';
import { Inspector, inspectedAt } from './cpu-profile.js';
import { startBare } from './http-bench.js';
import { loadOf } from './requests.js';
import { inTurns } from './rounds.js';

const CONNECTIONS = 32;
const ROUNDS = 3;
const ROUND_S = 4;
const PROFILED_S = 8;
/** Parts that take less per request are reported together. */
const MIN_TOLD_US = 0.3;

/** Microseconds of processor time per request, without a profiler. */
interface Times {
  readonly perRequest: number;
  readonly inKernel: number;
}

interface Account extends Times {
  readonly parts: ReadonlyMap<string, number>;
}

interface Inspected {
  readonly server: BenchProcess;
  readonly url: string;
  readonly port: number;
}

/**
 * Where the processor time of a read goes, part by part, compared with a bare node:http server that sends the same
 * bytes.
 */
export async function benchAccount(): Promise<readonly BenchLine[]> {
  const [port, barePort] = [await freePort(), await freePort()];
  await using running = await BenchBroker.start({ isPinned: true, env: { NODE_OPTIONS: inspectedAt(port) } });
  const { server, url } = await startBare(running, { NODE_OPTIONS: inspectedAt(barePort) });
  await using bareServer = server;
  const bare: Inspected = { server: bareServer, url, port: barePort };
  const read: Inspected = { server: running.broker, url: running.sessionUrl, port };
  // Without the profiler.
  const times = await inTurns(ROUNDS, { bare: () => timesOf(bare), read: () => timesOf(read) });
  const ofBare = await accountOf(bare, middleOf(times.bare));
  const ofRead = await accountOf(read, middleOf(times.read));
  return [...linesOf('bare', ofBare, ofBare), ...linesOf('read', ofRead, ofBare)];
}

function middleOf(times: readonly Times[]): Times {
  const sorted = [...times].sort((one, other) => one.perRequest - other.perRequest);
  return sorted[times.length >> 1] ?? { perRequest: Number.NaN, inKernel: Number.NaN };
}

async function timesOf({ server, url }: Inspected): Promise<Times> {
  const before = server.processorTime();
  const { total } = (await load(url, ROUND_S)).requests;
  const after = server.processorTime();
  const inKernel = ((after.systemS - before.systemS) * 1e6) / total;
  return { perRequest: ((after.userS - before.userS) * 1e6) / total + inKernel, inKernel };
}

/** Divided in the proportions that the profiler sees. */
async function accountOf({ url, port }: Inspected, times: Times): Promise<Account> {
  const inspector = await Inspector.of(port);
  const seen = await inspector.profileWhile(() => load(url, PROFILED_S));
  inspector.close();
  const all = [...seen.values()].reduce((sum, time) => sum + time, 0);
  return { ...times, parts: new Map([...seen].map(([part, us]) => [part, (us / all) * times.perRequest])) };
}

const load = (url: string, duration: number): ReturnType<typeof loadOf> =>
  loadOf({ url, connections: CONNECTIONS, duration, headers: BenchBroker.headers });

function linesOf(name: string, { perRequest, inKernel, parts }: Account, bare: Account): readonly BenchLine[] {
  const line = (what: string, value: number): BenchLine => {
    const beside = { what: 'a bare request', values: [bare.perRequest] };
    return { name: `${name}: ${what}`, unit: 'µs', values: [value], beside };
  };
  const sorted = [...parts].sort(([, one], [, other]) => other - one);
  const small = sorted.filter(([, us]) => us < MIN_TOLD_US).reduce((sum, [, us]) => sum + us, 0);
  return [
    line('a request', perRequest),
    line('of it in the kernel', inKernel),
    ...sorted.filter(([, us]) => us >= MIN_TOLD_US).map(([part, us]) => line(part, us)),
    ...(small > 0 ? [line(`what takes less than ${MIN_TOLD_US} µs each`, small)] : []),
  ];
}
