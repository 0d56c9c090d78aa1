import type { FastifyInstance } from 'fastify';
import { operations, type CallLog, type CallRecord } from '../calls/call-log.js';
import { oneOf, optional, readInput, shape, withDefault } from '../input/read-input.js';
import { merchantId } from '../merchants/merchant.js';
import type { Waiting } from '../wire/waiting.js';
import { filterWord, numberText } from './parameters.js';
import { waitUntil } from './wait-until.js';

const callsQuery = shape({
  /** Only calls with a greater sequence number. */
  since: withDefault(numberText(0, Number.MAX_SAFE_INTEGER), 0),
  operation: optional(oneOf(operations)),
  merchant: optional(merchantId),
  serviceCode: filterWord,
  limit: withDefault(numberText(1, 10_000), 1_000),
  /** Answers once this many calls match, or when the time is up. */
  waitFor: withDefault(numberText(0, 10_000), 0),
  until: withDefault(oneOf(['arrived', 'finished']), 'finished'),
  timeoutMs: withDefault(numberText(0, 120_000), 10_000),
});

type CallsQuery = ReturnType<typeof callsQuery>;

interface CallParts {
  readonly calls: CallLog;
  readonly waiting: Waiting;
}

export function callRoutes(control: FastifyInstance, { calls, waiting }: CallParts): void {
  control.get('/calls', async ({ query: given }, reply) => {
    const query = readInput(callsQuery, given);
    const isReached = (): boolean => calls.select(matcher(query)).length >= query.waitFor;
    const isInTime = await waitUntil({
      isReached,
      listen: (listener) => calls.listen(listener),
      timeUp: (signal) => waiting.delay(query.timeoutMs, signal),
      leave: (listener) => reply.raw.once('close', listener),
    });
    const matching = calls.select(matcher({ ...query, until: 'arrived' }));
    return {
      total: calls.total,
      inFlight: calls.inFlight,
      matching: matching.length,
      timedOut: !isInTime,
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
