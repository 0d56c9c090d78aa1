import { createRequire } from 'node:module';
import { join } from 'node:path';

interface Load {
  readonly url: string;
  readonly method?: 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly connections: number;
  /** In seconds, as in the result. */
  readonly duration: number;
  /** Threads that make it, instead of this one. */
  readonly workers?: number;
}

export interface LoadResult {
  readonly '2xx': number;
  readonly non2xx: number;
  readonly errors: number;
  readonly duration: number;
  readonly requests: { readonly total: number; readonly average: number };
}

/** Of the packages that `npm ci` does not bring; the path is from the compiled file. `npm run bench` installs them. */
const packages = createRequire(join(import.meta.dirname, '..', '..', '..', 'test', 'verify', 'package.json'));

/** As many requests as the connections can make, one after the other on each. */
export function loadOf(load: Load): PromiseLike<LoadResult> {
  return (packages('autocannon') as (load: Load) => PromiseLike<LoadResult>)(load);
}
