import { type Fetch, fileToken, type TokenSource } from '#libs/client';
import type { EgressConfiguration } from '#libs/configuration';
import { fetchThrough, type OutboundConnections } from '#libs/outbound';

/** How the broker is reached, and with which credentials. */
export interface BrokerAccess {
  readonly url: string;
  readonly auth: TokenSource | undefined;
  readonly fetch: Fetch;
}

/** @throws BrokerError `shutting_down` on a call once the connections are closed */
export function brokerAccess(broker: EgressConfiguration['broker'], connections: OutboundConnections): BrokerAccess {
  const { url, tokenFile, tls } = broker;
  const { ca, cert, key } = tls;
  const settings = {
    tls: { pins: [], ...(ca === undefined ? {} : { ca }) },
    ...(cert === undefined || key === undefined ? {} : { certificate: { cert, key } }),
  };
  return {
    url: url.href,
    auth: tokenFile === undefined ? undefined : fileToken(tokenFile),
    fetch: fetchThrough(connections, settings),
  };
}
