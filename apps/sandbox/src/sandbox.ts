import Fastify, { type FastifyInstance } from 'fastify';
import type { AddressInfo } from 'node:net';
import type { Clock } from '#libs/clock';
import type { Logger } from '#libs/telemetry';
import { CallLog } from './calls/call-log.js';
import { controlRoutes, type ControlParts } from './control/control-routes.js';
import { generateKeyPair } from './crypto/ec-key.js';
import { FaultBook } from './faults/fault-book.js';
import { authorizeOperation, type AuthorizeParts } from './gateway/authorize.js';
import { decryptHelper, encryptHelper } from './gateway/cipher-helpers.js';
import { echoOperation } from './gateway/echo.js';
import { answerUnknownService, gatewayRoutes } from './gateway/gateway-routes.js';
import { Stage, type StageParts } from './gateway/play.js';
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

const MAX_BODY_BYTES = 256 * 1024;
/** The helpers take a whole JWE in the query. */
const MAX_HEAD_BYTES = 128 * 1024;
const MAX_REQUEST_MS = 30_000;
const MAX_CALLS = 10_000;

/**
 * Starts the gateway, played.
 * @throws BrokerError `invalid_request` when a merchant is not valid; the error of node:net when the address is not free
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const parts = partsOf(options);
  const app = await applicationOf(parts);
  await app.listen({ host: options.host, port: options.port });
  const url = urlOf(app.server.address() as AddressInfo);
  options.logger.info({ url, merchants: parts.merchants.all().length }, 'sandbox listening');
  return {
    url,
    close: async () => {
      parts.faults.clearAll();
      parts.waiting.close();
      await app.close();
    },
  };
}

type Parts = StageParts & AuthorizeParts & ControlParts;

function partsOf(options: SandboxOptions): Parts {
  const { clock, logger, controlToken } = options;
  const initialSettings = { ...defaultSettings, ...options.settings };
  return {
    clock,
    logger,
    initialSettings,
    settings: { ...initialSettings },
    merchants: new MerchantBook(readMerchants(options.merchants ?? [])),
    sessions: new SessionBook(clock),
    faults: new FaultBook(),
    calls: new CallLog(clock, MAX_CALLS),
    waiting: new Waiting(clock),
    recipient: generateKeyPair(),
    ...(controlToken === undefined ? {} : { controlToken }),
  };
}

async function applicationOf(parts: Parts): Promise<FastifyInstance> {
  const app = Fastify({
    bodyLimit: MAX_BODY_BYTES,
    forceCloseConnections: true,
    requestTimeout: MAX_REQUEST_MS,
    http: { maxHeaderSize: MAX_HEAD_BYTES },
  });
  const stage = new Stage(parts);
  gatewayRoutes(app, stage, [authorizeOperation(parts), echoOperation(parts), decryptHelper, encryptHelper]);
  app.setNotFoundHandler(answerUnknownService(stage));
  app.get('/livez', () => ({ status: 'ok' }));
  await app.register(controlRoutes(parts), { prefix: '/control' });
  return app;
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
