import type { RedisProcess } from '#libs/testing';

/** What a leak would show in. */
export interface Footprint {
  readonly heapMb: number;
  readonly sockets: number;
  readonly timers: number;
  readonly redisKeys: number;
}

export function footprintOf(redis: RedisProcess): Footprint {
  globalThis.gc?.();
  const resources = process.getActiveResourcesInfo();
  const count = (kind: string): number => resources.filter((resource) => resource === kind).length;
  return {
    heapMb: process.memoryUsage().heapUsed / 1_048_576,
    sockets: count('TCPSocketWrap'),
    timers: count('Timeout'),
    redisKeys: Number(redis.cli('DBSIZE')),
  };
}

/** Room for what comes and goes: a connection being replaced, a recheck being planned, garbage not yet collected. */
const ROOM: Footprint = { heapMb: 16, sockets: 8, timers: 16, redisKeys: 4 };

export function growth(before: Footprint, after: Footprint): readonly string[] {
  return (Object.keys(ROOM) as (keyof Footprint)[])
    .filter((what) => after[what] > before[what] + ROOM[what])
    .map((what) => `${what} grew from ${before[what].toFixed(1)} to ${after[what].toFixed(1)}`);
}
