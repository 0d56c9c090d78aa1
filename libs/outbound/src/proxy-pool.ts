import { isIP } from 'node:net';
import { type buildConnector, type Dispatcher, Pool } from 'undici';

type Connect = buildConnector.connector;

/**
 * A pool as undici makes one for a proxy, which does not send an address as the name of the server. undici takes that
 * name from the proxy's URL, whatever stands there; RFC 6066 section 3 allows no address, and Node.js 26 refuses to
 * connect with one. The certificate is held against the address all the same.
 */
export function proxyPool(origin: URL | string, options: object): Dispatcher {
  const { connect } = options as { readonly connect?: Connect };
  if (connect === undefined) throw new TypeError('undici no longer says how a proxy is connected to');
  const named: Connect = ({ servername, ...target }, callback) => {
    const isNamed = servername !== undefined && isIP(target.hostname) === 0;
    connect({ ...target, ...(isNamed ? { servername } : {}) }, callback);
  };
  return new Pool(origin, { ...options, connect: named });
}
