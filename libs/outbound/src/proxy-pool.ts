import { isIP } from 'node:net';
import { type buildConnector, type Dispatcher, Pool } from 'undici';

type Connect = buildConnector.connector;

/**
 * A pool as undici makes it for a proxy, except that it never sends an address as the server name. undici takes that
 * name from the proxy's URL, whatever it is; RFC 6066 section 3 allows no address, and Node.js 26 refuses to connect
 * with one. The certificate is still checked against the address.
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
