import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort, RedisProcess } from '#libs/testing';
import { BenchBroker } from './bench-broker.js';
import type { BenchLine } from './bench-line.js';
import { untilOk } from './bench-process.js';

const RUNS = 5;
const GOAL_NPM_START_S = 1.5;
const GOAL_BROKER_S = 1.2;
const GOAL_AT_REST_MIB = 90;
const REST_MS = 5_000;
const MIB = 1_048_576;
const root = dirname(dirname(dirname(dirname(import.meta.filename))));

/** From `npm start` to the first readable session, and the broker alone with its session in Redis. */
export async function benchStart(): Promise<readonly BenchLine[]> {
  const startS = await medianSeconds(startToFirstSession);
  const npmS = await medianSeconds(() => secondsOf('npm', ['exec', '--', 'node', '-e', '0']));
  const npmStart: BenchLine = {
    name: 'npm start to first session',
    value: startS,
    unit: 's',
    ratio: startS / npmS,
    mostValue: GOAL_NPM_START_S,
    baseline: 'npm running a script that does nothing',
  };
  return [npmStart, ...(await benchBroker())];
}

/** As `npm run start:broker` starts it. */
async function benchBroker(): Promise<readonly BenchLine[]> {
  const redis = await RedisProcess.start();
  const running = await BenchBroker.start({ store: `{ type: redis, url: '${redis.url}' }` });
  try {
    const cpuSeconds: number[] = [];
    const readyS = await medianSeconds(async () => {
      const seconds = await running.restart();
      cpuSeconds.push(running.broker.cpuSeconds());
      return seconds;
    });
    await pause(REST_MS);
    const residentMib = running.broker.residentBytes() / MIB;
    const bareS = await medianSeconds(() => secondsOf(process.execPath, ['-e', '0']));
    const line = (
      name: string,
      value: number,
      rest: Pick<BenchLine, 'unit' | 'ratio'> & Partial<BenchLine>,
    ): BenchLine => {
      return { name, value, baseline: 'node that does nothing', ...rest };
    };
    const ready = 'broker to ready with its session in Redis';
    const cpuS = median(cpuSeconds);
    return [
      line(ready, readyS, { unit: 's', ratio: readyS / bareS, mostValue: GOAL_BROKER_S }),
      line(`${ready}, processor time`, cpuS, { unit: 's', ratio: cpuS / bareS }),
      line(`memory of it ${REST_MS / 1_000} s later`, residentMib, {
        unit: 'MiB',
        ratio: residentMib / GOAL_AT_REST_MIB,
        mostValue: GOAL_AT_REST_MIB,
        baseline: 'the goal',
      }),
    ];
  } finally {
    await running.stop();
    await redis.stop();
  }
}

async function medianSeconds(measure: () => Promise<number>): Promise<number> {
  const seconds: number[] = [];
  for (let run = 0; run < RUNS; run += 1) seconds.push(await measure());
  return median(seconds);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

async function startToFirstSession(): Promise<number> {
  const management = await freePort();
  const ports = {
    DEMO_BROKER_PORT: '0',
    DEMO_MANAGEMENT_PORT: String(management),
    DEMO_SANDBOX_PORT: '0',
    DEMO_EGRESS_PORT: '0',
    DEMO_EGRESS_MANAGEMENT_PORT: '0',
  };
  const startedAt = performance.now();
  const demo = spawn('npm', ['start'], { cwd: root, env: { ...process.env, ...ports }, detached: true });
  try {
    // Ready means that the one merchant's session can be read.
    await untilOk(`http://127.0.0.1:${management}/readyz`);
    return (performance.now() - startedAt) / 1_000;
  } finally {
    await stopGroup(demo);
  }
}

async function secondsOf(command: string, args: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  await once(spawn(command, args, { cwd: root }), 'exit');
  return (performance.now() - startedAt) / 1_000;
}

async function stopGroup(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null) return;
  const ended = once(child, 'exit');
  process.kill(-child.pid, 'SIGINT');
  await ended;
}
