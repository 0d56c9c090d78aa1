import { constants } from 'node:crypto';
import type { ServerOptions } from 'node:https';
import type { HttpTls } from '#libs/configuration';
import { TLS_TERMS } from '#libs/tls';

const HANDSHAKE_TIMEOUT_MS = 5_000;

/**
 * TLS of the API. A client certificate is requested but not required, so that the answer to a caller without one says
 * what is wrong; it is judged again for each connection, and never carried over from an earlier one.
 */
export function tlsOptions({ cert, key, clientCa }: HttpTls): ServerOptions {
  const own: ServerOptions = { cert, key, ...TLS_TERMS, handshakeTimeout: HANDSHAKE_TIMEOUT_MS };
  if (clientCa === undefined) return own;
  return {
    ...own,
    ca: clientCa,
    requestCert: true,
    rejectUnauthorized: false,
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}

/** Whether there is TLS, and whether client certificates are requested: this is decided when a port is opened. */
export function tlsShape(tls: Pick<HttpTls, 'clientCa'> | undefined): 'plain' | 'tls' | 'mutual' {
  if (tls === undefined) return 'plain';
  return tls.clientCa === undefined ? 'tls' : 'mutual';
}
