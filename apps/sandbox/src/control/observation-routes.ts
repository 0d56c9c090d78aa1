import type { FastifyInstance, FastifyReply } from 'fastify';
import { toRfc3339, VirtualClock } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { operations, paymentOperations, type CallLog, type CallRecord } from '../calls/call-log.js';
import { oneOf, optional, readInput, shape, text, wholeNumber, withDefault, type Reader } from '../input/read-input.js';
import { paymentOutcomes, totalsOf, type Ledger } from '../ledger/ledger.js';
import { merchantId } from '../merchants/merchant.js';
import type { Notifications } from '../notifications/notifications.js';
import type { PaymentParts } from '../payments/played-payment.js';
import { notFound } from './control-access.js';

export interface ObservationParts extends PaymentParts {
  readonly calls: CallLog;
  readonly ledger: Ledger;
  readonly notifications: Notifications;
}

/** What the gateway received and did, and the passing of its time. */
export function observationRoutes(control: FastifyInstance, parts: ObservationParts): void {
  callRoutes(control, parts);
  ledgerRoutes(control, parts);
  notificationRoutes(control, parts);
  timeRoutes(control, parts);
}

/** Whole numbers in a path or a query, which arrive as text. */
const numberText =
  (least: number, most: number): Reader<number> =>
  (value, path) =>
    wholeNumber(least, most)(typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value, path);

const idPath = shape({ id: numberText(1, Number.MAX_SAFE_INTEGER) });

/** The id at the end of a path. @throws BrokerError `invalid_request` */
export function idOf(parameters: unknown): number {
  return readInput(idPath, parameters).id;
}

const callsQuery = shape({
  /** Only calls with a greater sequence number. */
  since: withDefault(numberText(0, Number.MAX_SAFE_INTEGER), 0),
  operation: optional(oneOf(operations)),
  merchant: optional(merchantId),
  serviceCode: optional(text({ longest: 64 })),
  limit: withDefault(numberText(1, 10_000), 1_000),
  /** Answers once this many calls match, or when the time is up. */
  waitFor: withDefault(numberText(0, 10_000), 0),
  until: withDefault(oneOf(['arrived', 'finished']), 'finished'),
  timeoutMs: withDefault(numberText(0, 120_000), 10_000),
});

type CallsQuery = ReturnType<typeof callsQuery>;

function callRoutes(control: FastifyInstance, { calls, waiting }: ObservationParts): void {
  const isReached = (query: CallsQuery): boolean => calls.select(matcher(query)).length >= query.waitFor;
  /** Waits for enough calls, until the time is up or nobody waits for the answer any more. */
  const wait = async (query: CallsQuery, reply: FastifyReply): Promise<void> => {
    const over = new AbortController();
    const end = (): void => over.abort();
    const stop = calls.listen(() => {
      if (isReached(query)) end();
    });
    reply.raw.once('close', end);
    await waiting.delay(query.timeoutMs, over.signal);
    stop();
  };
  control.get('/calls', async ({ query: given }, reply) => {
    const query = readInput(callsQuery, given);
    if (!isReached(query)) await wait(query, reply);
    const matching = calls.select(matcher({ ...query, until: 'arrived' }));
    return {
      total: calls.total,
      inFlight: calls.inFlight,
      matching: matching.length,
      timedOut: !isReached(query),
      calls: matching.slice(0, query.limit),
    };
  });
  control.delete('/calls', async (_request, reply) => {
    calls.reset();
    return reply.code(204).send();
  });
}

function matcher({ since, operation, merchant, serviceCode, until }: CallsQuery): (record: CallRecord) => boolean {
  return (record) =>
    record.sequence > since &&
    (operation === undefined || record.operation === operation) &&
    (merchant === undefined || record.merchant === merchant) &&
    (serviceCode === undefined || record.serviceCode === serviceCode) &&
    (until === 'arrived' || record.outcome !== 'in_flight');
}

const ledgerQuery = shape({
  merchant: optional(merchantId),
  operation: optional(oneOf(paymentOperations)),
  outcome: optional(oneOf(paymentOutcomes)),
  merchantRequestId: optional(text({ longest: 36 })),
  limit: withDefault(numberText(0, 100_000), 1_000),
});
const ofMerchant = shape({ merchant: optional(merchantId) });

/** Whether a payment was lost or doubled. */
function ledgerRoutes(control: FastifyInstance, { ledger }: ObservationParts): void {
  control.get('/ledger', ({ query }) => {
    const { limit, ...filter } = readInput(ledgerQuery, query);
    const payments = ledger.list(filter);
    const { unidentified, forgotten } = ledger;
    return { totals: totalsOf(payments), unidentified, forgotten, payments: payments.slice(0, limit) };
  });
  control.delete('/ledger', async ({ query }, reply) => {
    ledger.reset(readInput(ofMerchant, query).merchant);
    return reply.code(204).send();
  });
}

/** What was sent to notification URLs, and with what result. */
function notificationRoutes(control: FastifyInstance, { notifications }: ObservationParts): void {
  control.get('/notifications', ({ query }) => notifications.list(readInput(ofMerchant, query).merchant));
  control.post('/notifications/:id/repeat', async ({ params }, reply) => {
    const id = idOf(params);
    if (!notifications.repeat(id)) throw notFound('there is no such notification, or its URL is not allowed');
    return reply.code(202).send({ repeated: id });
  });
}

const advance = shape({ byMs: wholeNumber(1, 30 * 86_400_000) });
/** Shorter than any wait before a repetition, so that each answer is known before the next attempt is due. */
const STEP_MS = 1_000;

/** The sandbox's clock: real time, or virtual time that passes only here. */
function timeRoutes(control: FastifyInstance, { clock, waiting, notifications }: ObservationParts): void {
  const told = (): object => ({ now: toRfc3339(clock.now()), virtual: clock instanceof VirtualClock });
  control.get('/time', told);
  control.post('/time/advance', async ({ body }) => {
    const { byMs } = readInput(advance, body);
    if (!(clock instanceof VirtualClock)) {
      throw new BrokerError('invalid_request', {
        publicDetail: 'the time is not virtual; start with SANDBOX_CLOCK=virtual',
      });
    }
    await notifications.idle();
    // In small steps while anything waits for its time, because the answers to notifications take real time.
    for (let leftMs = byMs; leftMs > 0;) {
      const stepMs = waiting.pending > 0 ? Math.min(STEP_MS, leftMs) : leftMs;
      await clock.advance(stepMs);
      await notifications.idle();
      leftMs -= stepMs;
    }
    return told();
  });
}
