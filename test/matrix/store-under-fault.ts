import { fail } from 'node:assert/strict';
import { type RedisProcess, startRedisCluster, startRedisSentinel } from '#libs/testing';

export type Topology = 'one server' | 'Sentinel' | 'Cluster';

type SentinelFixture = Awaited<ReturnType<typeof startRedisSentinel>>;

/** A real Redis in one of its forms. */
export interface StoreUnderFault {
  /** How a replica is told where it is; undefined for the one server, which may be behind a network. */
  readonly section?: object;
  /** The one server; in a cluster, the node with the merchant `shop`; with sentinels, the first primary. */
  readonly redis: () => RedisProcess;
  readonly sentinels?: SentinelFixture;
  readonly stop?: () => Promise<void>;
}

const placeOf = ({ address: { host, port } }: RedisProcess): string => `${host}:${port}`;
const hasShop = (node: RedisProcess): boolean => node.cli('KEYS', '*:merchant:shop').trim() !== '';

/** @param single the one server, which somebody else has started and stops */
export async function startStore(topology: Topology, single: RedisProcess): Promise<StoreUnderFault> {
  if (topology === 'one server') return { redis: () => single };
  if (topology === 'Sentinel') {
    const sentinels = await startRedisSentinel();
    const section = { type: 'redis', sentinels: sentinels.sentinels.map(placeOf), name: sentinels.name };
    return { section, redis: () => sentinels.primary, sentinels, stop: sentinels.stop };
  }
  const { nodes, stop } = await startRedisCluster();
  const section = { type: 'redis', cluster: nodes.map(placeOf) };
  return { section, redis: () => nodes.find(hasShop) ?? fail('no node has the merchant'), stop };
}
