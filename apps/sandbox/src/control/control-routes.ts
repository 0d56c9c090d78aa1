import type { FastifyInstance, FastifyPluginCallback } from 'fastify';
import type { CallLog } from '../calls/call-log.js';
import { thumbprint, type KeyPair } from '../crypto/ec-key.js';
import type { FaultBook } from '../faults/fault-book.js';
import type { MerchantBook } from '../merchants/merchant-book.js';
import type { SessionBook } from '../sessions/session-book.js';
import { changeSettings, type Settings } from '../settings.js';
import type { Waiting } from '../wire/waiting.js';
import { callRoutes } from './call-routes.js';
import { answerProblem, answerUnknownRoute } from './problem.js';
import { demandControlAccess } from './control-access.js';
import { faultRoutes } from './fault-routes.js';
import { merchantRoutes } from './merchant-routes.js';
import { sessionRoutes } from './session-routes.js';

export interface ControlParts {
  readonly controlToken?: string;
  readonly merchants: MerchantBook;
  readonly sessions: SessionBook;
  readonly faults: FaultBook;
  readonly calls: CallLog;
  readonly settings: Settings;
  readonly initialSettings: Readonly<Settings>;
  readonly waiting: Waiting;
  readonly recipient: KeyPair;
}

/** How tests and people tell the gateway what to play, and see what it got. No part of the gateway's interface. */
export function controlRoutes(parts: ControlParts): FastifyPluginCallback {
  return (control, _options, done) => {
    control.addHook('onRequest', demandControlAccess(parts.controlToken));
    control.setErrorHandler(answerProblem);
    control.setNotFoundHandler(answerUnknownRoute);
    merchantRoutes(control, parts);
    faultRoutes(control, parts);
    sessionRoutes(control, parts);
    callRoutes(control, parts);
    gatewayWideRoutes(control, parts);
    done();
  };
}

function gatewayWideRoutes(control: FastifyInstance, parts: ControlParts): void {
  const { settings, recipient } = parts;
  control.get('/settings', () => settings);
  control.patch('/settings', ({ body }) => {
    changeSettings(settings, body);
    return settings;
  });
  control.get('/recipient-key', () => ({
    jwk: { ...recipient.jwk, use: 'enc', alg: 'ECDH-ES+A256KW' },
    thumbprint: thumbprint(recipient.jwk),
  }));
  control.post('/reset', async (_request, reply) => {
    parts.faults.clearAll();
    parts.merchants.reset();
    parts.sessions.reset();
    parts.calls.reset();
    Object.assign(settings, parts.initialSettings);
    return reply.code(204).send();
  });
}
