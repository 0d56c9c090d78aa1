import fc from 'fast-check';
import type { OpenTarget } from './fuzz-target.js';

export interface BatchOptions {
  readonly seed: number;
  readonly runs: number;
  /** The way to the one case of the seed that failed. */
  readonly path?: string;
}

export interface Find {
  readonly seed: number;
  readonly path: string;
  readonly input: string;
  readonly error: string;
}

export interface BatchResult {
  readonly inputs: number;
  readonly find?: Find;
}

/** Shrinking gets as far as it can in this time. */
const MAX_BATCH_MS = 120_000;
const MAX_SHOWN = 4_000;

/** Feeds a target what a seed yields: the same seed, the same inputs. */
export async function fuzzBatch(target: OpenTarget, { seed, runs, path }: BatchOptions): Promise<BatchResult> {
  const details = await fc.check(target.property as fc.IRawProperty<[unknown]>, {
    seed,
    numRuns: runs,
    interruptAfterTimeLimit: MAX_BATCH_MS,
    ...(path === undefined ? {} : { path }),
  });
  const inputs = target.takeCount?.() ?? details.numRuns;
  if (!details.failed) return { inputs };
  const { errorInstance, counterexample, counterexamplePath } = details;
  const error = errorInstance instanceof Error ? (errorInstance.stack ?? errorInstance.message) : String(errorInstance);
  const input = fc.stringify(counterexample).slice(0, MAX_SHOWN);
  return { inputs, find: { seed, path: counterexamplePath ?? '', input, error } };
}
