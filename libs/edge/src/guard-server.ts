import type { Server } from 'node:http';
import { type BoundParts, boundConnections } from './bounded-connections.js';
import { refuseOtherHosts } from './known-hosts.js';
import { refuseImproperRequests } from './proper-requests.js';
import { demandTls } from './strict-transport.js';

interface GuardParts extends BoundParts {
  /** Further names that the server answers for, read with every request; absent: it answers for any name. */
  readonly hosts?: (() => readonly string[]) | undefined;
}

/**
 * Wraps a server in the checks that apply to every request: its host name, its form, and how much of the server its
 * connection may use. In this order, since each wraps the previous ones. To be called once all request handlers are
 * registered, before the server listens.
 */
export function guardServer(server: Server, { hosts, ...parts }: GuardParts): void {
  if (hosts !== undefined) refuseOtherHosts(server, hosts);
  refuseImproperRequests(server);
  boundConnections(server, parts);
  demandTls(server);
}
