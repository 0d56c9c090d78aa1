import type { EgressClient } from '#libs/configuration';

/** A client that authorizes for itself, with everything its sessions are derived from. */
export interface AliasClient {
  readonly name: string;
  readonly merchant: string;
  /** In lower case: a client's alias is a UUID, which may be written in either case. */
  readonly serviceCode: string;
  readonly client: EgressClient;
}

/** The clients that have an alias: the configuration lets no two have the same one. */
export function aliasClientsAmong(clients: readonly EgressClient[]): readonly AliasClient[] {
  return clients.flatMap((client) => {
    const { name, merchant, alias } = client;
    return alias === undefined ? [] : [{ name, merchant, serviceCode: alias.serviceCode.toLowerCase(), client }];
  });
}
