import type { HttpTls } from '#libs/configuration';

/** Whether there is TLS, and whether client certificates are requested: this is decided when a port is opened. */
export function tlsShape(tls: Pick<HttpTls, 'clientCa'> | undefined): 'plain' | 'tls' | 'mutual' {
  if (tls === undefined) return 'plain';
  return tls.clientCa === undefined ? 'tls' : 'mutual';
}
