import { sentinelOptions, type RedisTimeouts } from '../connection-profile.js';
import { nameOf, type RedisAddress, type SentinelRedis } from '../redis-connection.js';
import { type InspectedReply, InspectedServer, StoreInspectionFailure } from './inspected-server.js';

/** What one sentinel says about the primary. */
export interface SentinelView {
  readonly sentinel: string;
  readonly primary?: RedisAddress;
  /** False: it sees too few other sentinels to have the primary replaced. Absent: it does not show this user. */
  readonly quorum?: boolean;
  /** Why it could not be asked. */
  readonly failure?: StoreInspectionFailure;
}

export async function viewOfSentinel(
  connection: SentinelRedis,
  { address, timeouts }: { readonly address: RedisAddress; readonly timeouts: RedisTimeouts },
): Promise<SentinelView> {
  const sentinel = nameOf(address);
  let server: InspectedServer | undefined;
  try {
    server = await InspectedServer.connect(address, { ...sentinelOptions(connection, timeouts), ...address });
    const named = await server.ask('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', connection.name);
    const quorum = await server.ask('SENTINEL', 'CKQUORUM', connection.name);
    const primary = named.kind === 'value' ? addressIn(named.value) : undefined;
    return {
      sentinel,
      ...(primary === undefined ? {} : { primary }),
      ...(quorum.kind === 'error' && quorum.lacks !== undefined ? {} : { quorum: quorum.kind === 'value' }),
    };
  } catch (error) {
    if (!(error instanceof StoreInspectionFailure)) throw error;
    return { sentinel, failure: error };
  } finally {
    server?.close();
  }
}

function addressIn(reply: unknown): RedisAddress | undefined {
  const [host, port] = Array.isArray(reply) ? (reply as unknown[]) : [];
  return typeof host === 'string' ? { host, port: Number(port) } : undefined;
}

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
    const address = nodeAddress(primary, asked);
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
function nodeAddress(node: unknown, asked: RedisAddress): RedisAddress {
  const [host, port] = Array.isArray(node) ? (node as unknown[]) : [];
  return { host: typeof host === 'string' && host !== '' ? host : asked.host, port: Number(port) };
}
