import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Clock } from '#libs/clock';
import {
  type Address,
  answerClientError,
  answerProblem,
  drain,
  type ConnectionEnd,
  edgeHeaders,
  guardServer,
  JUDGED_HERE,
  MANAGEMENT_BOUNDS,
  openServer,
  requestIdOf,
} from '#libs/edge';
import { BrokerError } from '#libs/errors';
import type { Telemetry } from '#libs/telemetry';
import type { EgressReadiness } from './egress-readiness.js';

interface ManagementOptions {
  readonly address: Address;
  /** Host names that the port may be called by, in addition to `localhost` and addresses. */
  readonly hosts: readonly string[];
  readonly readiness: () => EgressReadiness;
  /** Without it, there is no `/metrics`. */
  readonly telemetry: Pick<Telemetry, 'scrape'> | undefined;
  readonly clock: Clock;
  readonly onEnd: (reason: ConnectionEnd) => void;
}

/** The port for those who run the egress, while it is open. */
export interface Management {
  readonly url: string;
  /** Ends whatever is in progress, and all connections, within a bounded time. */
  close(): Promise<void>;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const REQUEST_TIMEOUT_MS = 5_000;
const CHECK_EVERY_MS = 1_000;
const MAX_HEADER_BYTES = 8_192;
const ALLOWED = 'GET, HEAD';

/**
 * Opens the port that clients never see. `/livez` depends on nothing but the event loop: if a liveness probe looked at
 * the broker, every egress would be restarted at once when the broker is down.
 * @throws BrokerError `address_in_use`
 */
export async function openManagement({
  address,
  hosts,
  readiness,
  telemetry,
  clock,
  onEnd,
}: ManagementOptions): Promise<Management> {
  const answers: Readonly<Record<string, Answer>> = {
    '/livez': (_request, response) => sendJson(response, 200, { alive: true }),
    '/readyz': (_request, response) => {
      const state = readiness();
      sendJson(response, state.ready ? 200 : 503, state);
    },
    ...(telemetry && { '/metrics': (request, response) => telemetry.scrape(request, response) }),
  };
  const server = createServer({
    ...JUDGED_HERE,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: REQUEST_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_EVERY_MS,
  });
  server.on('request', (request, response) => serve(answers, request, response));
  server.on('clientError', answerClientError);
  guardServer(server, { hosts: () => hosts, bounds: MANAGEMENT_BOUNDS, clock, onEnd });
  const url = await openServer(server, address);
  return { url, close: () => drain(server, { close: () => closed(server), clock }) };
}

function serve(answers: Readonly<Record<string, Answer>>, request: IncomingMessage, response: ServerResponse): void {
  for (const [name, value] of Object.entries(edgeHeaders(requestIdOf(request)))) response.setHeader(name, value);
  try {
    answerOf(answers, request, response)(request, response);
  } catch (thrown) {
    const error = thrown instanceof BrokerError ? thrown : new BrokerError('internal_error', { cause: thrown });
    answerProblem(request, response, error);
  }
}

/** @throws BrokerError `route_not_found`, `method_not_allowed` */
function answerOf(
  answers: Readonly<Record<string, Answer>>,
  { url = '', method = '' }: IncomingMessage,
  response: ServerResponse,
): Answer {
  const path = url.split('?', 1)[0] ?? '';
  const answer = Object.hasOwn(answers, path) ? answers[path] : undefined;
  if (answer === undefined) throw new BrokerError('route_not_found');
  if (method === 'GET' || method === 'HEAD') return answer;
  response.setHeader('allow', ALLOWED);
  throw new BrokerError('method_not_allowed');
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
