import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import type { BenchLine } from './bench-line.js';
import { freePort, untilOk } from './bench-process.js';

const RUNS = 5;
const GOAL_S = 2;
const root = dirname(dirname(dirname(dirname(import.meta.filename))));

/** From `npm start` to the first session that can be read, beside a node process that does nothing. */
export async function benchStart(): Promise<readonly BenchLine[]> {
  const startS = await medianSeconds(startToFirstSession);
  const bareS = await medianSeconds(npmAlone);
  const name = `npm start to first session (goal under ${GOAL_S} s)`;
  return [
    { name, value: startS, unit: 's', ratio: startS / bareS, baseline: 'npm running a script that does nothing' },
  ];
}

async function medianSeconds(measure: () => Promise<number>): Promise<number> {
  const seconds: number[] = [];
  for (let run = 0; run < RUNS; run += 1) seconds.push(await measure());
  return seconds.sort((a, b) => a - b)[RUNS >> 1] ?? Number.NaN;
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
    // Ready means that the session of the one merchant can be read.
    await untilOk(`http://127.0.0.1:${management}/readyz`);
    return (performance.now() - startedAt) / 1_000;
  } finally {
    await stopGroup(demo);
  }
}

async function npmAlone(): Promise<number> {
  const startedAt = performance.now();
  const npm = spawn('npm', ['exec', '--', 'node', '-e', '0'], { cwd: root });
  await once(npm, 'exit');
  return (performance.now() - startedAt) / 1_000;
}

async function stopGroup(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null) return;
  const ended = once(child, 'exit');
  process.kill(-child.pid, 'SIGINT');
  await ended;
}
