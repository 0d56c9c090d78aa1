import autocannon from 'autocannon';
import { freePort } from '#libs/testing';
import { BenchBroker } from './bench-broker.js';
import { startBare } from './bare-contender.js';
import type { BenchLine } from './bench-line.js';
import type { BenchProcess } from './bench-process.js';
import { Inspector, inspectedAt } from './cpu-profile.js';

const CONNECTIONS = 32;
const WARM_S = 4;
const ROUND_S = 10;
const SERVER_CPU = 0;
/** Less than that of a request is told together. */
const MIN_TOLD_US = 0.3;

interface Account {
  /** Microseconds of processor time for each request, with nobody who profiles. */
  readonly perRequest: number;
  readonly inKernel: number;
  readonly parts: ReadonlyMap<string, number>;
}

interface Inspected {
  readonly server: BenchProcess;
  readonly url: string;
  readonly port: number;
}

/** Where the processor time of a read goes, part by part, beside that of a bare node:http server with the same bytes. */
export async function benchAccount(): Promise<readonly BenchLine[]> {
  const [port, barePort] = [await freePort(), await freePort()];
  const running = await BenchBroker.start({ brokerCpu: SERVER_CPU, environment: { NODE_OPTIONS: inspectedAt(port) } });
  const bare = await startBare(running.folder, running.sessionUrl, { NODE_OPTIONS: inspectedAt(barePort) });
  try {
    const ofBare = await accountOf({ server: bare.server, url: bare.url, port: barePort });
    const ofRead = await accountOf({ server: running.broker, url: running.sessionUrl, port });
    return [...linesOf('bare', ofBare, ofBare), ...linesOf('read', ofRead, ofBare)];
  } finally {
    await bare.server.stop();
    await running.stop();
  }
}

/** Measured without the profiler, and divided as the profiler saw it. */
async function accountOf({ server, url, port }: Inspected): Promise<Account> {
  const load = (duration: number): Promise<autocannon.Result> =>
    autocannon({ url, connections: CONNECTIONS, duration, headers: BenchBroker.headers });
  await load(WARM_S);
  const before = server.processorTime();
  const { total } = (await load(ROUND_S)).requests;
  const after = server.processorTime();
  const inspector = await Inspector.of(port);
  const times = await inspector.profileWhile(() => load(ROUND_S));
  inspector.close();
  const inKernel = ((after.systemS - before.systemS) * 1e6) / total;
  const perRequest = ((after.userS - before.userS) * 1e6) / total + inKernel;
  const seen = [...times.values()].reduce((sum, time) => sum + time, 0);
  return { perRequest, inKernel, parts: new Map([...times].map(([part, us]) => [part, (us / seen) * perRequest])) };
}

function linesOf(name: string, { perRequest, inKernel, parts }: Account, bare: Account): readonly BenchLine[] {
  const line = (what: string, value: number): BenchLine => {
    return { name: `${name}: ${what}`, value, unit: 'µs', ratio: value / bare.perRequest, baseline: 'a bare request' };
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
