import type { Server } from 'node:http';
import { type BoundParts, boundConnections } from './bounded-connections.js';
import { refuseOtherHosts } from './known-hosts.js';
import { refuseImproperRequests } from './proper-requests.js';
import { demandTls } from './strict-transport.js';

interface GuardParts extends BoundParts {
  /** Further names that the server answers for, asked for with every request; absent: it answers for any name. */
  readonly hosts?: (() => readonly string[]) | undefined;
}

/**
 * Puts what holds for every request of anybody around a server: its name, its form, and how much of the server its
 * connection may take. In this order, since each stands around what was there before. To be called once all handlers of
 * requests are there, before the server listens.
 */
export function guardServer(server: Server, { hosts, ...parts }: GuardParts): void {
  if (hosts !== undefined) refuseOtherHosts(server, hosts);
  refuseImproperRequests(server);
  boundConnections(server, parts);
  demandTls(server);
}
