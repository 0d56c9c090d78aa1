import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { HttpTls } from '#libs/configuration';
import { answerClientError, JUDGED_HERE, tlsOptions } from '#libs/edge';
import { gatewayErrorOf } from '../answers/gateway-error.js';
import type { Arrival } from '../exchange/arrival.js';
import { MAX_TARGET_LENGTH } from './request-target.js';

/** For the headers, and for a whole request: a client that sends more slowly is not waited for. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
/** Longer than the idle time of common clients, so that they close first and never hit a closing socket. */
const KEEP_ALIVE_MS = 75_000;
/** How often requests are checked for timeouts: a timeout acts at most this late. */
const CHECK_EVERY_MS = 1_000;
/** As much for the other headers as for the target. */
const MAX_HEADER_BYTES = 2 * MAX_TARGET_LENGTH;

const ignored = (): void => undefined;

/** The server of the egress, not listening yet. */
export function createEgressServer(tls: HttpTls | undefined, serve: (arrival: Arrival) => void): Server {
  const limits = {
    ...JUDGED_HERE,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: CHECK_EVERY_MS,
  };
  const server = tls === undefined ? createServer(limits) : createTlsServer({ ...limits, ...tlsOptions(tls) });
  const arrive = (request: IncomingMessage, response: ServerResponse, wantBody: () => void): void => {
    // A client that breaks off is noticed where its body is read and where its answer is written.
    request.on('error', ignored);
    serve({ request, response, wantBody });
  };
  return server
    .on('request', (request, response) => arrive(request, response, ignored))
    .on('checkContinue', (request, response) => arrive(request, response, () => response.writeContinue()))
    .on('clientError', (error, socket) => answerClientError(error, socket as Socket, gatewayErrorOf));
}
