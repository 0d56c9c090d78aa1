import { Agent, type OutgoingHttpHeaders, request as sendRequest } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { percentile } from './bench-line.js';
import type { BenchProcess } from './bench-process.js';
import { atPace, type Pace } from './rounds.js';

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

interface LoadResult {
  readonly '2xx': number;
  readonly non2xx: number;
  readonly errors: number;
  readonly duration: number;
  readonly requests: { readonly total: number; readonly average: number };
}

/** Of the packages that `npm ci` does not bring; the path is from the compiled file. `npm run bench` installs them. */
const packages = createRequire(join(import.meta.dirname, '..', '..', '..', 'test', 'verify', 'package.json'));

/**
 * As many requests as the connections can make, one after the other on each.
 * @throws Error if one of them fails, or none succeeds
 */
export async function loadOf(load: Load): Promise<LoadResult> {
  const result = await (packages('autocannon') as (load: Load) => PromiseLike<LoadResult>)(load);
  const failed = result.non2xx + result.errors;
  if (failed > 0 || result['2xx'] === 0)
    throw new Error(`${load.url}: ${failed} failed of ${result.requests.total} requests`);
  return result;
}

/** The pace of a server under this load. */
export async function paceUnder(load: Load, server: BenchProcess): Promise<Pace> {
  const before = server.cpuSeconds();
  const { requests, duration } = await loadOf(load);
  return { perSecond: requests.total / duration, perCpuSecond: requests.total / (server.cpuSeconds() - before) };
}

export interface OneRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: OutgoingHttpHeaders;
  readonly body?: () => string;
}

/** @returns milliseconds until the whole answer is there. @throws Error at an answer that is not 200 */
function timeOf({ url, method, headers, body = () => '' }: OneRequest, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const request = sendRequest(url, { method, agent, headers }, (response) => {
      const ended = (): void =>
        response.statusCode === 200
          ? resolve(performance.now() - startedAt)
          : reject(new Error(`${url} answered ${response.statusCode}`));
      response.resume().on('end', ended);
    });
    request.on('error', reject).end(body());
  });
}

interface PacedRequests extends OneRequest {
  readonly perSecond: number;
  readonly seconds: number;
  /** A new connection for each of them. */
  readonly connectsAnew?: boolean;
}

/** Milliseconds of requests at a steady pace. @throws Error at an answer that is not 200 */
export async function timesOf({ perSecond, seconds, connectsAnew, ...one }: PacedRequests): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: connectsAnew !== true });
  try {
    return await atPace(
      perSecond,
      () => timeOf(one, agent),
      (started) => started < perSecond * seconds,
    );
  } finally {
    agent.destroy();
  }
}

/** One more client next to other work, on its own connection. @returns its 99th percentile in milliseconds */
export async function p99While(url: string, headers: OutgoingHttpHeaders, work: PromiseLike<unknown>): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  let isOver = false;
  const probe = async (): Promise<void> => {
    while (!isOver) times.push(await timeOf({ url, method: 'GET', headers }, agent));
  };
  try {
    await Promise.all([Promise.resolve(work).finally(() => (isOver = true)), probe()]);
  } finally {
    agent.destroy();
  }
  return percentile(times, 0.99);
}
