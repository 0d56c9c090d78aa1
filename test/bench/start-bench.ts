import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#libs/testing';
import { BenchBroker } from './bench-broker.js';
import type { BenchLine } from './bench-line.js';
import { untilOk } from './bench-process.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** From `npm start` to the first readable session. */
export async function benchStart(): Promise<readonly BenchLine[]> {
  const nothing = (): Promise<number> => secondsOf('npm', ['exec', '--', 'node', '-e', '0']);
  return [
    { name: 'npm start to first session', unit: 's', values: await times(5, startToFirstSession), most: 1.5 },
    { name: 'npm running a script that does nothing', unit: 's', values: await times(5, nothing) },
  ];
}

/**
 * A replica started as in the image, with a session already in Redis: how long until it is ready, and how many create
 * calls it makes. What memory it takes, the bench of that name tells.
 */
export async function benchRestart(): Promise<readonly BenchLine[]> {
  const folder = await mkdtemp(join(tmpdir(), 'session-broker-image-'));
  try {
    const image = join(folder, 'image');
    execFileSync(process.execPath, [join(ROOT, 'tools', 'assemble-image.mjs'), image], { cwd: ROOT });
    await using broker = await BenchBroker.start({ root: image, http: 'docs: false', hasRedis: true });
    const cpuSeconds: number[] = [];
    const ready = await times(7, async () => {
      const seconds = await broker.restart();
      cpuSeconds.push(broker.broker.cpuSeconds());
      return seconds;
    });
    const further = (await broker.createCalls()) - 1;
    return [
      { name: 'image to ready', unit: 's', values: ready, most: 0.8 },
      { name: 'processor time until then', unit: 's', values: cpuSeconds },
      { name: 'node that does nothing', unit: 's', values: await times(7, bareStart) },
      { name: 'create calls of them', unit: 'calls', values: [further], most: 0 },
    ];
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function times(runs: number, measure: () => Promise<number>): Promise<readonly number[]> {
  const measured: number[] = [];
  for (let run = 0; run < runs; run += 1) measured.push(await measure());
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
  const demo = spawn('npm', ['start'], { cwd: ROOT, env: { ...process.env, ...ports }, detached: true });
  try {
    // Ready means that the one merchant's session can be read.
    await untilOk(`http://127.0.0.1:${management}/readyz`);
    return (performance.now() - startedAt) / 1_000;
  } finally {
    await stopGroup(demo);
  }
}

const bareStart = (): Promise<number> => secondsOf(process.execPath, ['-e', '0']);

async function secondsOf(command: string, args: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  await once(spawn(command, args, { cwd: ROOT }), 'exit');
  return (performance.now() - startedAt) / 1_000;
}

async function stopGroup(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null) return;
  const ended = once(child, 'exit');
  process.kill(-child.pid, 'SIGINT');
  await ended;
}
