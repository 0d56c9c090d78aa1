import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort, RedisProcess } from '#libs/testing';
import { BenchBroker } from './bench-broker.js';
import type { BenchLine } from './bench-line.js';
import { untilOk } from './bench-process.js';

const RUNS = 5;
const REST_MS = 5_000;
const MIB = 1_048_576;
const root = dirname(dirname(dirname(dirname(import.meta.filename))));

/** From `npm start` to the first readable session, and the broker alone with its session in Redis. */
export async function benchStart(): Promise<readonly BenchLine[]> {
  const npmStart = await inRounds(startToFirstSession);
  const npm = await inRounds(() => secondsOf('npm', ['exec', '--', 'node', '-e', '0']));
  return [
    { name: 'npm start to first session', unit: 's', values: npmStart, most: 1.5 },
    { name: 'npm running a script that does nothing', unit: 's', values: npm },
    ...(await benchBroker()),
  ];
}

/** As `npm run start:broker` starts it. */
async function benchBroker(): Promise<readonly BenchLine[]> {
  const redis = await RedisProcess.start();
  const running = await BenchBroker.start({ store: `{ type: redis, url: '${redis.url}' }` });
  try {
    const cpuSeconds: number[] = [];
    const ready = await inRounds(async () => {
      const seconds = await running.restart();
      cpuSeconds.push(running.broker.cpuSeconds());
      return seconds;
    });
    await pause(REST_MS);
    const residentMib = running.broker.residentBytes() / MIB;
    const bare = await inRounds(() => secondsOf(process.execPath, ['-e', '0']));
    return [
      { name: 'broker to ready', unit: 's', values: ready, most: 0.8 },
      { name: 'processor time until then', unit: 's', values: cpuSeconds },
      { name: 'node that does nothing', unit: 's', values: bare },
      { name: 'memory of it', unit: 'MiB', values: [residentMib], most: 90 },
    ];
  } finally {
    await running.stop();
    await redis.stop();
  }
}

async function inRounds(measure: () => Promise<number>): Promise<readonly number[]> {
  const measured: number[] = [];
  for (let run = 0; run < RUNS; run += 1) measured.push(await measure());
  return measured;
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
