import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** A year, including names below ours (RFC 6797 section 6.1). */
export const STRICT_TRANSPORT = 'max-age=31536000; includeSubDomains';

/**
 * Makes every answer of a server with TLS say that its name must only be requested over TLS; one without TLS says
 * nothing, since browsers do not believe it then. To be called last, so that it comes before anything that refuses a
 * request.
 */
export function demandTls(server: Server): void {
  if (!(server instanceof TlsServer)) return;
  const demand = (_request: IncomingMessage, response: ServerResponse): void =>
    void response.setHeader('strict-transport-security', STRICT_TRANSPORT);
  server.prependListener('request', demand);
  server.prependListener('checkContinue', demand);
  server.prependListener('checkExpectation', demand);
}

/** The same for an answer that is written directly to the connection. */
export function isByTls(socket: Socket): boolean {
  return socket instanceof TLSSocket;
}
