import type { GatewayOperation } from '../gateway/operation.js';
import { createOrder } from './create-order.js';
import { createPurchase } from './create-purchase.js';
import { executePurchase } from './execute-purchase.js';
import { orderOperations } from './order-operations.js';
import { playedPayment, type PaymentParts } from './played-payment.js';
import { refund } from './refund.js';

/** Every payment that the gateway plays. */
export function paymentOperations(parts: PaymentParts): readonly GatewayOperation[] {
  return [
    playedPayment(parts, createOrder(parts)),
    playedPayment(parts, orderOperations(parts)),
    playedPayment(parts, refund(parts)),
    playedPayment(parts, createPurchase(parts)),
    playedPayment(parts, executePurchase(parts)),
  ];
}
