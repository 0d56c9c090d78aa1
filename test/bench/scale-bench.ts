import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generateClientKey } from '#libs/jwe';
import { RedisProcess } from '#libs/testing';
import type { BenchLine } from './bench-line.js';

const run = promisify(execFile);
const COUNTS = [1, 10_000, 100_000];
const REPLICAS = 2;
const KIB = 1_024;

interface Measured {
  readonly heapBytes: number;
  readonly idleShare: number;
}

/** Two replicas with more and more merchants on one Redis: what each merchant costs when nothing is due. */
export async function benchScale(): Promise<readonly BenchLine[]> {
  const lines: BenchLine[] = [];
  let baseline: Measured | undefined;
  for (const count of COUNTS) {
    const measured = await measure(count);
    baseline ??= measured;
    lines.push(...linesOf(count, measured, baseline));
  }
  return lines;
}

function linesOf(count: number, measured: Measured, baseline: Measured): readonly BenchLine[] {
  const perMerchant = (measured.heapBytes - baseline.heapBytes) / count / KIB;
  const one = 'one merchant';
  return [
    {
      name: `${count} merchants, idle processor share of a replica`,
      value: measured.idleShare * 100,
      unit: '%',
      ratio: measured.idleShare / baseline.idleShare,
      baseline: one,
      mostValue: 3,
    },
    {
      name: `${count} merchants, memory of each`,
      value: perMerchant,
      unit: 'KiB',
      ratio: measured.heapBytes / baseline.heapBytes,
      baseline: `${one}, whole heap beyond an empty process`,
      mostValue: 4,
    },
  ];
}

async function measure(count: number): Promise<Measured> {
  const redis = await RedisProcess.start();
  const { privateJwk } = await generateClientKey();
  const program = join(import.meta.dirname, 'scale-replica.js');
  const args = ['--expose-gc', program, redis.url, String(count), JSON.stringify(privateJwk)];
  try {
    const replicas = await Promise.all(Array.from({ length: REPLICAS }, () => run(process.execPath, args)));
    const measured = replicas.map(({ stdout }) => JSON.parse(stdout) as Measured);
    return {
      heapBytes: Math.max(...measured.map(({ heapBytes }) => heapBytes)),
      idleShare: Math.max(...measured.map(({ idleShare }) => idleShare)),
    };
  } finally {
    await redis.stop();
  }
}
