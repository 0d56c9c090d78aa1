import { GatewayRefusal } from '../gateway/refusal.js';
import { openShape } from '../input/read-input.js';
import { operationMembers } from './payment-operation.js';
import { orderDetails } from './order.js';
import type { PaymentKind, PaymentParts } from './played-payment.js';
import { id } from './request-members.js';

const reader = openShape({ hppOrderId: id });

/** What became of an order. */
export function orderOperations({ book, clock }: PaymentParts): PaymentKind<ReturnType<typeof reader>> {
  return {
    name: 'order-operations',
    path: '/ecom/execute_request/hpp/v1/operations',
    form: 'json',
    reader,
    carryOut({ hppOrderId }, { merchant }) {
      const order = book.order(hppOrderId);
      if (order?.merchant !== merchant.id) throw new GatewayRefusal('b_hpp_order_not_found');
      if (order.status === 'CREATED' && order.expiresAt <= clock.now()) {
        throw new GatewayRefusal('b_hpp_order_expired');
      }
      return { ...orderDetails(order), operations: order.operations.map(operationMembers) };
    },
  };
}
