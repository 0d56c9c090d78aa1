import { BrokerError } from '#libs/errors';
import { fetch as undiciFetch, type RequestInit, type Response } from 'undici';
import type { ConnectionSettings, OutboundConnections } from './outbound-connections.js';

/**
 * A fetch that uses the connections of a pool. Its caller limits what it reads, and ends it in time.
 * @throws BrokerError `shutting_down`, at a call, once the pool is closed
 */
export function fetchThrough(
  connections: OutboundConnections,
  settings: ConnectionSettings,
): (url: string, init: RequestInit) => Promise<Response> {
  return (url, init) => {
    const dispatcher = connections.dispatcherFor(settings);
    if (dispatcher === undefined) return Promise.reject(new BrokerError('shutting_down'));
    return undiciFetch(url, { ...init, dispatcher });
  };
}
