import type { FastifyInstance, FastifyPluginCallback } from 'fastify';
import type { CallLog } from '../calls/call-log.js';
import { thumbprint, type KeyPair } from '../crypto/ec-key.js';
import type { FaultBook } from '../faults/fault-book.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Notifications } from '../notifications/notifications.js';
import type { PaymentParts } from '../payments/played-payment.js';
import type { Rivals } from '../sessions/rivals.js';
import { changeSettings, type Settings } from '../settings.js';
import { callRoutes } from './call-routes.js';
import { answerProblem, answerUnknownRoute } from './problem.js';
import { demandControlAccess } from './control-access.js';
import { faultRoutes } from './fault-routes.js';
import { ledgerRoutes } from './ledger-routes.js';
import { merchantRoutes } from './merchant-routes.js';
import { notificationRoutes } from './notification-routes.js';
import { paymentRoutes } from './payment-routes.js';
import { rivalRoutes } from './rival-routes.js';
import { sessionRoutes } from './session-routes.js';
import { timeRoutes } from './time-routes.js';

export interface ControlParts extends PaymentParts {
  readonly controlToken?: string;
  readonly faults: FaultBook;
  readonly calls: CallLog;
  readonly ledger: Ledger;
  readonly rivals: Rivals;
  readonly notifications: Notifications;
  readonly initialSettings: Readonly<Settings>;
  readonly recipient: KeyPair;
}

/**
 * How tests and people tell the gateway what to play, and see what it received. Not part of the gateway's interface.
 */
export function controlRoutes(parts: ControlParts): FastifyPluginCallback {
  return (control, _options, done) => {
    control.addHook('onRequest', demandControlAccess(parts.controlToken));
    control.setErrorHandler(answerProblem);
    control.setNotFoundHandler(answerUnknownRoute);
    merchantRoutes(control, parts);
    faultRoutes(control, parts);
    sessionRoutes(control, parts);
    callRoutes(control, parts);
    ledgerRoutes(control, parts);
    rivalRoutes(control, parts);
    timeRoutes(control, parts);
    paymentRoutes(control, parts);
    notificationRoutes(control, parts);
    gatewayWideRoutes(control, parts);
    done();
  };
}

/** What the bank hands out by other means, and which therefore needs no access control. */
export function publicRoutes({ paymentKey }: Pick<PaymentParts, 'paymentKey'>): FastifyPluginCallback {
  return (open, _options, done) => {
    open.get('/payment-key', () => publishedKey(paymentKey));
    done();
  };
}

function publishedKey({ jwk }: KeyPair): object {
  return { jwk: { ...jwk, use: 'enc', alg: 'ECDH-ES+A256KW' }, thumbprint: thumbprint(jwk) };
}

function gatewayWideRoutes(control: FastifyInstance, parts: ControlParts): void {
  const { settings, recipient } = parts;
  control.get('/settings', () => settings);
  control.patch('/settings', ({ body }) => {
    changeSettings(settings, body);
    return settings;
  });
  control.get('/recipient-key', () => publishedKey(recipient));
  control.post('/reset', async (_request, reply) => {
    parts.faults.clearAll();
    parts.merchants.reset();
    parts.sessions.reset();
    parts.calls.reset();
    parts.ledger.reset();
    parts.book.reset();
    parts.attempts.reset();
    parts.notifications.reset();
    parts.rivals.reset();
    Object.assign(settings, parts.initialSettings);
    return reply.code(204).send();
  });
}
