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
  let ofOneBytes: number | undefined;
  for (const count of COUNTS) {
    const { heapBytes, idleShare } = await measure(count);
    ofOneBytes ??= heapBytes;
    const kib = (heapBytes - ofOneBytes) / count / KIB;
    lines.push(
      { name: `${count} merchants: idle processor share`, unit: '%', values: [idleShare * 100], most: 3 },
      { name: `${count} merchants: memory of each`, unit: 'KiB', values: [kib], most: 4 },
    );
  }
  return lines;
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
