import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { RedisProcess } from '#libs/testing';
import { BenchBroker } from './bench-broker.js';
import type { BenchLine } from './bench-line.js';

const RUNS = 7;
const REST_MS = 10_000;
const REST_GOAL_MIB = 90;
const MIB = 1_048_576;
const root = join(import.meta.dirname, '..', '..', '..');

/**
 * A replica started as in the image, with a session already in Redis: how long until it is ready, how many create calls
 * it makes, and how much memory it takes at rest.
 */
export async function benchRestart(): Promise<readonly BenchLine[]> {
  const folder = await mkdtemp(join(tmpdir(), 'session-broker-image-'));
  const image = join(folder, 'image');
  execFileSync(process.execPath, [join(root, 'tools', 'assemble-image.mjs'), image], { cwd: root });
  const redis = await RedisProcess.start();
  const broker = await BenchBroker.start({
    root: image,
    http: 'docs: false',
    store: `{ type: redis, url: '${redis.url}' }`,
  });
  try {
    const seconds: number[] = [];
    for (let run = 0; run < RUNS; run += 1) seconds.push(await broker.restart());
    await pause(REST_MS);
    return lines(median(seconds), {
      bareS: await bareStart(),
      residentMib: broker.broker.residentBytes() / MIB,
      createCalls: await broker.createCalls(),
    });
  } finally {
    await broker.stop();
    await redis.stop();
    await rm(folder, { recursive: true });
  }
}

function lines(
  readyS: number,
  { bareS, residentMib, createCalls }: { bareS: number; residentMib: number; createCalls: number },
): readonly BenchLine[] {
  return [
    {
      name: 'image: start to ready with a session in Redis',
      mostValue: 1.2,
      value: readyS,
      unit: 's',
      ratio: readyS / bareS,
      baseline: 'node that does nothing',
    },
    {
      name: `create calls of ${RUNS} such starts`,
      mostValue: 0,
      value: createCalls - 1,
      unit: '',
      ratio: createCalls,
      baseline: 'the one before them',
    },
    {
      name: `memory of a replica ${REST_MS / 1_000} s later`,
      mostValue: REST_GOAL_MIB,
      value: residentMib,
      unit: 'MiB',
      ratio: residentMib / REST_GOAL_MIB,
      baseline: 'the goal',
    },
  ];
}

async function bareStart(): Promise<number> {
  const seconds: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const startedAt = performance.now();
    await once(spawn(process.execPath, ['-e', '0']), 'exit');
    seconds.push((performance.now() - startedAt) / 1_000);
  }
  return median(seconds);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
