import Fastify from 'fastify';
import type { AddressInfo } from 'node:net';
import type { Clock } from '#libs/clock';
import type { Logger } from '#libs/telemetry';
import { CallLog } from './calls/call-log.js';
import { controlRoutes } from './control/control-routes.js';
import { generateKeyPair } from './crypto/ec-key.js';
import { FaultBook } from './faults/fault-book.js';
import { authorizeOperation } from './gateway/authorize.js';
import { decryptHelper, encryptHelper } from './gateway/cipher-helpers.js';
import { echoOperation } from './gateway/echo.js';
import { gatewayRoutes } from './gateway/gateway-routes.js';
import { Stage } from './gateway/play.js';
import { errorBody, GatewayRefusal } from './gateway/refusal.js';
import { MerchantBook } from './merchants/merchant-book.js';
import { readMerchants } from './merchants/merchant.js';
import { SessionBook } from './sessions/session-book.js';
import { defaultSettings, type Settings } from './settings.js';
import { Waiting } from './wire/waiting.js';

export interface SandboxOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A list of merchants as the control route takes them. */
  readonly merchants?: unknown;
  readonly settings?: Partial<Settings>;
  /** Demanded as a bearer token of every control request; without it they are taken from loopback addresses only. */
  readonly controlToken?: string;
}

export interface Sandbox {
  readonly url: string;
  /** Ends at once: calls that wait or hang are cut off. */
  close(): Promise<void>;
}

const LONGEST_BODY = 256 * 1024;
/** The helpers take a whole JWE in the query. */
const LONGEST_HEAD = 128 * 1024;
const SLOWEST_REQUEST_MS = 30_000;
const MOST_CALLS = 10_000;

/**
 * Starts the gateway, played.
 * @throws BrokerError `invalid_request` when a merchant is not valid; the error of node:net when the address is not free
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { clock, logger } = options;
  const initialSettings = { ...defaultSettings, ...options.settings };
  const settings = { ...initialSettings };
  const merchants = new MerchantBook(readMerchants(options.merchants ?? []));
  const sessions = new SessionBook(clock);
  const faults = new FaultBook();
  const calls = new CallLog(clock, MOST_CALLS);
  const waiting = new Waiting(clock);
  const recipient = generateKeyPair();
  const stage = new Stage({ clock, settings, faults, calls, waiting, logger });
  const app = Fastify({
    bodyLimit: LONGEST_BODY,
    forceCloseConnections: true,
    requestTimeout: SLOWEST_REQUEST_MS,
    http: { maxHeaderSize: LONGEST_HEAD },
  });
  gatewayRoutes(app, stage, [
    authorizeOperation({ merchants, sessions, settings, recipient }),
    echoOperation({ merchants, sessions }),
    decryptHelper,
    encryptHelper,
  ]);
  const played = { settings, initialSettings, merchants, sessions, faults, calls, waiting, recipient };
  await app.register(controlRoutes({ ...played, ...tokenOf(options) }), { prefix: '/control' });
  app.get('/livez', () => ({ status: 'ok' }));
  app.setNotFoundHandler(async (request, reply) => {
    const { refusal } = new GatewayRefusal('b_service_unavailable');
    return reply.code(refusal.status).type('application/json').send(errorBody(request.id, refusal));
  });
  await app.listen({ host: options.host, port: options.port });
  const url = urlOf(app.server.address() as AddressInfo);
  logger.info({ url, merchants: merchants.all().length }, 'sandbox listening');
  return {
    url,
    close: async () => {
      faults.clearAll();
      waiting.close();
      await app.close();
    },
  };
}

function tokenOf({ controlToken }: SandboxOptions): Pick<SandboxOptions, 'controlToken'> {
  return controlToken === undefined ? {} : { controlToken };
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
