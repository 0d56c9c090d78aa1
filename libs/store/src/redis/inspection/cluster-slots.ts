import type { RedisAddress } from '../redis-connection.js';
import type { InspectedReply } from './inspected-server.js';

const ALL_SLOTS = 16_384;

export interface ClusterSlots {
  readonly primaries: readonly RedisAddress[];
  /** Primaries without a replica that could replace them. */
  readonly withoutReplica: number;
  /** Slots that no node serves: the merchants in them have no store. */
  readonly unservedSlots: number;
  /** Whether the nodes gave the information at all; if not, `primaries` is only the node that was asked. */
  readonly told: boolean;
}

/**
 * Reads `CLUSTER SLOTS`: ranges as `[first, last, [host, port, id, …] of the primary, [host, port, …] of replicas…]`.
 */
export function readClusterSlots(reply: InspectedReply, asked: RedisAddress): ClusterSlots {
  const ranges = reply.kind === 'value' && Array.isArray(reply.value) ? (reply.value as unknown[][]) : undefined;
  if (ranges === undefined) return { primaries: [asked], withoutReplica: 0, unservedSlots: 0, told: false };
  const primaries = new Map<string, { readonly address: RedisAddress; readonly alone: boolean }>();
  let served = 0;
  for (const [first, last, primary, ...replicas] of ranges) {
    served += Number(last) - Number(first) + 1;
    const address = addressOf(primary, asked);
    primaries.set(`${address.host} ${address.port}`, { address, alone: replicas.length === 0 });
  }
  const all = [...primaries.values()];
  return {
    primaries: all.map(({ address }) => address),
    withoutReplica: all.filter(({ alone }) => alone).length,
    unservedSlots: ALL_SLOTS - served,
    told: true,
  };
}

/** A node that does not know its own name leaves it out: it is then the one that was asked. */
function addressOf(node: unknown, asked: RedisAddress): RedisAddress {
  const [host, port] = Array.isArray(node) ? (node as unknown[]) : [];
  return { host: typeof host === 'string' && host !== '' ? host : asked.host, port: Number(port) };
}
