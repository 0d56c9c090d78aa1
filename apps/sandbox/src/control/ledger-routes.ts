import type { FastifyInstance } from 'fastify';
import { paymentOperations } from '../calls/call-log.js';
import { oneOf, optional, readInput, shape, text, withDefault } from '../input/read-input.js';
import { paymentOutcomes, totalsOf, type Ledger } from '../ledger/ledger.js';
import { merchantId } from '../merchants/merchant.js';
import { numberText } from './parameters.js';

const ledgerQuery = shape({
  merchant: optional(merchantId),
  operation: optional(oneOf(paymentOperations)),
  outcome: optional(oneOf(paymentOutcomes)),
  merchantRequestId: optional(text({ longest: 36 })),
  limit: withDefault(numberText(0, 100_000), 1_000),
});
const resetQuery = shape({ merchant: optional(merchantId) });

/** Whether a payment was lost or doubled. */
export function ledgerRoutes(control: FastifyInstance, { ledger }: { readonly ledger: Ledger }): void {
  control.get('/ledger', ({ query }) => {
    const { limit, ...filter } = readInput(ledgerQuery, query);
    const payments = ledger.list(filter);
    return {
      totals: totalsOf(payments),
      unidentified: ledger.unidentified,
      forgotten: ledger.forgotten,
      payments: payments.slice(0, limit),
    };
  });
  control.delete('/ledger', async ({ query }, reply) => {
    ledger.reset(readInput(resetQuery, query).merchant);
    return reply.code(204).send();
  });
}
