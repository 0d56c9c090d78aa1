import { sentinelOptions, type RedisTimeouts } from '../connection-profile.js';
import { nameOf, type RedisAddress, type SentinelRedis } from '../redis-connection.js';
import { InspectedServer } from './inspected-server.js';
import { StoreInspectionFailure } from './inspection-failure.js';

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
