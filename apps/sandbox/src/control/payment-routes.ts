import type { FastifyInstance } from 'fastify';
import { oneOf, readInput, shape, withDefault } from '../input/read-input.js';
import { payOrder } from '../payments/pay-order.js';
import { operationMembers } from '../payments/payment-operation.js';
import type { PaymentParts } from '../payments/played-payment.js';
import { notFound } from './problem.js';

const paying = shape({ outcome: withDefault(oneOf(['SUCCESS', 'FAIL']), 'SUCCESS') });

/** The customer at the hosted page. */
export function paymentRoutes(control: FastifyInstance, parts: PaymentParts): void {
  control.post<{ Params: { id: string } }>('/orders/:id/pay', ({ params, body }) => {
    const { outcome } = readInput(paying, body ?? {});
    const order = parts.book.order(params.id);
    if (order === undefined) throw notFound('there is no such order');
    return operationMembers(payOrder(parts, order, outcome));
  });
}
