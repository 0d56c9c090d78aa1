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
    const residentMib = broker.broker.residentBytes() / MIB;
    const further = (await broker.createCalls()) - 1;
    return [
      { name: 'image to ready', unit: 's', values: seconds, most: 0.8 },
      { name: 'node that does nothing', unit: 's', values: await bareStarts() },
      { name: 'create calls of them', unit: 'calls', values: [further], most: 0 },
      { name: 'memory of it', unit: 'MiB', values: [residentMib], most: 90 },
    ];
  } finally {
    await broker.stop();
    await redis.stop();
    await rm(folder, { recursive: true });
  }
}

async function bareStarts(): Promise<readonly number[]> {
  const seconds: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const startedAt = performance.now();
    await once(spawn(process.execPath, ['-e', '0']), 'exit');
    seconds.push((performance.now() - startedAt) / 1_000);
  }
  return seconds;
}
