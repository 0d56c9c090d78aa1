import type { EgressClient } from '#libs/configuration';
import { BrokerError } from '#libs/errors';

/** A client that authorizes for itself, with everything its sessions are derived from. */
export interface AliasClient {
  readonly name: string;
  readonly merchant: string;
  /** In lower case: a client's alias is a UUID, which may be written in either case. */
  readonly serviceCode: string;
  readonly client: EgressClient;
}

/**
 * The clients that have an alias.
 * @throws BrokerError `configuration_invalid` when two have the same one: it would be unclear which of them is calling
 */
export function aliasClientsAmong(clients: readonly EgressClient[]): readonly AliasClient[] {
  const found = new Map<string, AliasClient>();
  for (const client of clients) {
    if (client.alias === undefined) continue;
    const { name, merchant } = client;
    const serviceCode = client.alias.serviceCode.toLowerCase();
    const other = found.get(serviceCode);
    if (other !== undefined) {
      const detail = `the clients ${other.name} and ${name} have the same serviceCodeAlias`;
      throw new BrokerError('configuration_invalid', { detail });
    }
    found.set(serviceCode, { name, merchant, serviceCode, client });
  }
  return [...found.values()];
}
