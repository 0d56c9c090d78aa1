import type { FastifyInstance, FastifyPluginCallback } from 'fastify';
import { BrokerError } from '#libs/errors';
import { operations } from '../calls/call-log.js';
import { thumbprint, type KeyPair } from '../crypto/ec-key.js';
import type { FaultBook } from '../faults/fault-book.js';
import { readFault } from '../faults/fault.js';
import { endingCodes } from '../gateway/refusal.js';
import { oneOf, optional, readInput, shape, wholeNumber, withDefault } from '../input/read-input.js';
import { merchantId, readMerchant, type Merchant } from '../merchants/merchant.js';
import { operationMembers } from '../payments/operation.js';
import { payingOutcomes, payOrder } from '../payments/order-requests.js';
import { changeSettings, type Settings } from '../settings.js';
import { answerProblem, demandControlAccess, notFound } from './control-access.js';
import { idOf, observationRoutes, type ObservationParts } from './observation-routes.js';

export interface ControlParts extends ObservationParts {
  readonly controlToken?: string;
  readonly faults: FaultBook;
  readonly initialSettings: Readonly<Settings>;
  readonly recipient: KeyPair;
}

type ById = { readonly Params: { readonly id: string } };

/**
 * How tests and people tell the gateway what to play, and see what it received. Not part of the gateway's interface.
 */
export function controlRoutes(parts: ControlParts): FastifyPluginCallback {
  return (control, _options, done) => {
    control.addHook('onRequest', demandControlAccess(parts.controlToken));
    control.setErrorHandler(answerProblem);
    control.setNotFoundHandler((request, reply) =>
      answerProblem(notFound('docs/reference/sandbox.md lists the control routes'), request, reply),
    );
    merchantRoutes(control, parts);
    sessionRoutes(control, parts);
    faultRoutes(control, parts);
    orderRoutes(control, parts);
    observationRoutes(control, parts);
    gatewayWideRoutes(control, parts);
    done();
  };
}

/** What the bank hands out by other means, and which therefore needs no access control. */
export function publicRoutes({ paymentKey }: Pick<ControlParts, 'paymentKey'>): FastifyPluginCallback {
  return (open, _options, done) => {
    open.get('/payment-key', () => publishedKey(paymentKey));
    done();
  };
}

function publishedKey({ jwk }: KeyPair): object {
  return { jwk: { ...jwk, use: 'enc', alg: 'ECDH-ES+A256KW' }, thumbprint: thumbprint(jwk) };
}

/** Onboarding, in place of the bank's back office. */
function merchantRoutes(control: FastifyInstance, { merchants, sessions }: ControlParts): void {
  control.get('/merchants', () => merchants.all().map(described));
  control.get<ById>('/merchants/:id', ({ params }) => {
    const merchant = merchants.byId(params.id);
    if (merchant === undefined) throw new BrokerError('merchant_not_found');
    return described(merchant);
  });
  // The sessions of a merchant that is replaced stay: a new client key does not end them.
  control.post('/merchants', async ({ body }, reply) => {
    const merchant = readMerchant(body);
    const isNew = merchants.put(merchant);
    return reply.code(isNew ? 201 : 200).send(described(merchant));
  });
  control.delete<ById>('/merchants/:id', async ({ params }, reply) => {
    if (!merchants.remove(params.id)) throw new BrokerError('merchant_not_found');
    sessions.forget(params.id);
    return reply.code(204).send();
  });
}

function described(merchant: Merchant): object {
  const { jwk } = merchant.publicJwk;
  return { ...merchant, publicJwk: jwk, clientKeyThumbprint: thumbprint(jwk) };
}

const listQuery = shape({ merchant: optional(merchantId) });
const msgCode = withDefault(oneOf(endingCodes), 'b_auth_token_expired');
const revokeQuery = shape({ msgCode });
const revokeAllQuery = shape({ merchant: optional(merchantId), msgCode });

function sessionRoutes(control: FastifyInstance, { sessions }: ControlParts): void {
  control.get('/sessions', ({ query }) => sessions.list(readInput(listQuery, query).merchant));
  control.delete('/sessions', ({ query }) => {
    const read = readInput(revokeAllQuery, query);
    return { revoked: sessions.revokeAll(read.merchant, read.msgCode) };
  });
  control.delete('/sessions/:id', async ({ params, query }, reply) => {
    if (!sessions.revoke(idOf(params), readInput(revokeQuery, query).msgCode)) throw notFound('no such session');
    return reply.code(204).send();
  });
}

const scopeQuery = shape({ operation: optional(oneOf(operations)), merchant: optional(merchantId) });
const releaseBody = shape({ count: withDefault(wholeNumber(1, 1_000_000), 1_000_000) });

function faultRoutes(control: FastifyInstance, { faults }: ControlParts): void {
  const unknown = (): Error => notFound('there is no such fault: it was cleared or has been used up');
  control.get('/faults', () => faults.list());
  control.post('/faults', async ({ body }, reply) => reply.code(201).send(faults.add(readFault(body))));
  control.delete('/faults', ({ query }) => ({ cleared: faults.clearAll(readInput(scopeQuery, query)) }));
  control.delete('/faults/:id', async ({ params }, reply) => {
    if (!faults.clear(idOf(params))) throw unknown();
    return reply.code(204).send();
  });
  control.post('/faults/:id/release', ({ params, body }) => {
    const { count } = readInput(releaseBody, body ?? {});
    const released = faults.release(idOf(params), count);
    if (released === undefined) throw unknown();
    return { released };
  });
}

const paying = shape({ outcome: withDefault(oneOf(payingOutcomes), 'SUCCESS') });

/** The customer at the hosted page. */
function orderRoutes(control: FastifyInstance, parts: ControlParts): void {
  control.post<ById>('/orders/:id/pay', ({ params, body }) => {
    const { outcome } = readInput(paying, body ?? {});
    const order = parts.book.order(params.id);
    if (order === undefined) throw notFound('there is no such order');
    return operationMembers(payOrder(parts, order, outcome));
  });
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
    const { faults, merchants, sessions, calls, ledger, book, notifications } = parts;
    faults.clearAll();
    for (const kept of [merchants, sessions, calls, ledger, book, notifications]) kept.reset();
    Object.assign(settings, parts.initialSettings);
    return reply.code(204).send();
  });
}
