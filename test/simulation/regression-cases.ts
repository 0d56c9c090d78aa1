import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Invariant } from './judge.js';
import type { Scenario } from './scenario.js';

/** Where shrunk scenarios that failed once are kept, so that they never fail again. */
export const REGRESSIONS = 'test/simulation/regressions';

export interface RegressionCase {
  /** What it once violated. */
  readonly shows: Invariant;
  readonly scenario: Scenario;
}

/** Every case that is kept, with the name of its file. */
export function regressionCases(): readonly (RegressionCase & { readonly name: string })[] {
  return readdirSync(REGRESSIONS)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => ({
      name: file.replace('.json', ''),
      ...(JSON.parse(readFileSync(join(REGRESSIONS, file), 'utf8')) as RegressionCase),
    }));
}
