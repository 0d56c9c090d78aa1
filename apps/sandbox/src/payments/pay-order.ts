import { BrokerError } from '#libs/errors';
import { newOperation } from './new-operation.js';
import type { Order } from './order.js';
import type { PaymentOperation } from './payment-operation.js';
import type { PaymentParts } from './played-payment.js';

/**
 * What the customer does at the hosted page.
 * @throws BrokerError `invalid_request` for an order that can no longer be paid
 */
export function payOrder(
  { book, clock, notices }: Pick<PaymentParts, 'book' | 'clock' | 'notices'>,
  order: Order,
  outcome: 'SUCCESS' | 'FAIL',
): PaymentOperation {
  const now = clock.now();
  if (order.status === 'PAID') throw new BrokerError('invalid_request', { publicDetail: 'the order is paid already' });
  if (order.expiresAt <= now) throw new BrokerError('invalid_request', { publicDetail: 'the order has expired' });
  const { merchant, merchantId, merchantRequestId, coinAmount, hppOrderId } = order;
  const { notificationUrl, notificationEncryption } = order;
  const operation = newOperation(
    {
      ...{ merchant, merchantId, merchantRequestId, coinAmount, hppOrderId, notificationUrl, notificationEncryption },
      type: 'PURCHASE',
      status: outcome,
      isRefundable: order.hppPayType === 'PURCHASE',
    },
    now,
  );
  order.status = outcome === 'SUCCESS' ? 'PAID' : 'DECLINED';
  order.operations.push(operation);
  book.addOperation(operation);
  notices.changed(operation);
  return operation;
}
