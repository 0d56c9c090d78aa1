import Fastify, { type FastifyInstance, type FastifyPluginCallback } from 'fastify';
import { type AddressInfo, isIPv6 } from 'node:net';
import type { Clock } from '#libs/clock';
import type { Logger } from '#libs/telemetry';
import { CallLog } from './calls/call-log.js';
import { controlRoutes, publicRoutes } from './control/control-routes.js';
import { generateKeyPair } from './crypto/ec-key.js';
import { FaultBook } from './faults/fault-book.js';
import { authorizeOperation } from './gateway/authorize.js';
import { decryptHelper, encryptHelper } from './gateway/cipher-helpers.js';
import { echoOperation } from './gateway/echo.js';
import type { GatewayOperation } from './gateway/operation.js';
import { answerUnknownService, gatewayRoutes } from './gateway/gateway-routes.js';
import { Stage } from './gateway/play.js';
import { Ledger } from './ledger/ledger.js';
import { MerchantBook } from './merchants/merchant-book.js';
import { readMerchants } from './merchants/merchant.js';
import { Deliverer, NotificationTargets } from './notifications/delivery.js';
import { Notifications } from './notifications/notifications.js';
import { createPayment, executePayment } from './payments/card-payments.js';
import { completion, operationById, operationByRequest, refund } from './payments/follow-ups.js';
import { createOrder, orderOperations } from './payments/order-requests.js';
import { PaymentBook } from './payments/payment-book.js';
import { PaymentNotices } from './payments/payment-notices.js';
import { hostedPage } from './payments/hosted-page.js';
import { playedPayment } from './payments/played-payment.js';
import { SessionBook } from './sessions/session-book.js';
import { defaultSettings, type Settings } from './settings.js';
import { Waiting } from './wire/waiting.js';

export interface SandboxOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A list of merchants in the form that the control route accepts. */
  readonly merchants?: unknown;
  readonly settings?: Partial<Settings>;
  /**
   * Required as a bearer token on every control request; without it, such requests are only accepted from loopback
   * addresses.
   */
  readonly controlToken?: string;
  /** Origins besides this machine that notifications may go to, such as `https://shop.example`. */
  readonly notificationOrigins?: readonly string[];
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
const MAX_PAYMENTS = 50_000;
const MAX_NOTIFICATIONS = 5_000;

/**
 * Starts the simulated gateway.
 * @throws BrokerError `invalid_request` when a merchant is not valid; the error of node:net when the address is not
 *   free
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const parts = partsOf(options);
  const app = await applicationOf(parts);
  await app.listen({ host: options.host, port: options.port });
  const address = app.server.address() as AddressInfo;
  parts.targets.ownPort = address.port;
  const url = `http://${writtenAddress(address)}`;
  options.logger.info({ url, merchants: parts.merchants.all().length }, 'sandbox listening');
  return {
    url,
    close: async () => {
      parts.faults.clearAll();
      parts.waiting.close();
      parts.deliverer.close();
      await app.close();
    },
  };
}

type Parts = ReturnType<typeof partsOf>;

function partsOf(options: SandboxOptions) {
  const { clock, logger, controlToken, notificationOrigins = [] } = options;
  const initialSettings = { ...defaultSettings, ...options.settings };
  const parts = {
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
    paymentKey: generateKeyPair(),
    book: new PaymentBook(clock, MAX_PAYMENTS),
    ledger: new Ledger(clock, MAX_PAYMENTS),
    deliverer: new Deliverer(),
    targets: new NotificationTargets(notificationOrigins),
    ...(controlToken === undefined ? {} : { controlToken }),
  };
  const notifications = new Notifications({ ...parts, capacity: MAX_NOTIFICATIONS });
  return { ...parts, notifications, notices: new PaymentNotices({ ...parts, notifications }) };
}

function operationsOf(parts: Parts): readonly GatewayOperation[] {
  return [
    authorizeOperation(parts),
    echoOperation(parts),
    decryptHelper,
    encryptHelper,
    playedPayment(parts, createOrder(parts)),
    playedPayment(parts, orderOperations(parts)),
    playedPayment(parts, createPayment(parts, 'purchase')),
    playedPayment(parts, executePayment(parts, 'purchase')),
    playedPayment(parts, createPayment(parts, 'preauth')),
    playedPayment(parts, executePayment(parts, 'preauth')),
    playedPayment(parts, completion(parts)),
    playedPayment(parts, refund(parts)),
    playedPayment(parts, operationByRequest(parts)),
    playedPayment(parts, operationById(parts)),
  ];
}

async function applicationOf(parts: Parts): Promise<FastifyInstance> {
  const app = Fastify({
    bodyLimit: MAX_BODY_BYTES,
    forceCloseConnections: true,
    requestTimeout: MAX_REQUEST_MS,
    // Observed clients have a base URL that ends in a slash.
    routerOptions: { ignoreDuplicateSlashes: true },
    http: { maxHeaderSize: MAX_HEAD_BYTES },
  });
  const stage = new Stage(parts);
  gatewayRoutes(app, stage, operationsOf(parts));
  app.setNotFoundHandler(answerUnknownService(stage));
  app.get('/livez', () => ({ status: 'ok' }));
  await app.register(named('hosted page', hostedPage(parts)));
  await app.register(named('public routes', publicRoutes(parts)), { prefix: '/_sandbox' });
  for (const prefix of ['/control', '/_sandbox']) {
    await app.register(named('control routes', controlRoutes(parts)), { prefix });
  }
  return app;
}

/**
 * For a plugin without a name, Fastify searches all loaded modules for its file: in Jest, the longest part of a start.
 */
function named(name: string, plugin: FastifyPluginCallback): FastifyPluginCallback {
  return Object.assign(plugin, { [Symbol.for('fastify.display-name')]: name });
}

/** With an IPv6 address in brackets, as in a URL. */
export function writtenAddress({ address, port }: Pick<AddressInfo, 'address' | 'port'>): string {
  return `${isIPv6(address) ? `[${address}]` : address}:${port}`;
}
