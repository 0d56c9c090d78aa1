import type { FastifyInstance } from 'fastify';
import { operations } from '../calls/call-log.js';
import type { FaultBook, FaultScope } from '../faults/fault-book.js';
import { readFault } from '../faults/fault.js';
import { oneOf, optional, readInput, shape, wholeNumber, withDefault } from '../input/read-input.js';
import { merchantId } from '../merchants/merchant.js';
import { idOf } from './parameters.js';
import { notFound } from './problem.js';

const scopeQuery = shape({ operation: optional(oneOf(operations)), merchant: optional(merchantId) });
const releaseBody = shape({ count: withDefault(wholeNumber(1, 1_000_000), 1_000_000) });

export function faultRoutes(control: FastifyInstance, { faults }: { readonly faults: FaultBook }): void {
  control.get('/faults', () => faults.list());
  control.post('/faults', async ({ body }, reply) => reply.code(201).send(faults.add(readFault(body))));
  control.delete('/faults', ({ query }) => ({ cleared: faults.clearAll(scopeOf(query)) }));
  control.delete('/faults/:id', async ({ params }, reply) => {
    if (!faults.clear(idOf(params))) throw unknownFault();
    return reply.code(204).send();
  });
  control.post('/faults/:id/release', ({ params, body }) => {
    const { count } = readInput(releaseBody, body ?? {});
    const released = faults.release(idOf(params), count);
    if (released === undefined) throw unknownFault();
    return { released };
  });
}

function scopeOf(query: unknown): FaultScope {
  const { operation, merchant } = readInput(scopeQuery, query);
  return { ...(operation === undefined ? {} : { operation }), ...(merchant === undefined ? {} : { merchant }) };
}

function unknownFault(): Error {
  return notFound('there is no such fault: it was cleared or has been used up');
}
