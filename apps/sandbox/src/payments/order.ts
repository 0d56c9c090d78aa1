import type { Instant } from '#libs/clock';
import type { PaymentOperation } from './payment-operation.js';
import { writtenDate } from './written-date.js';

export const orderStatuses = ['CREATED', 'PAID', 'DECLINED'] as const;

/** An order on the hosted page, as the gateway keeps it. */
export interface Order {
  readonly hppOrderId: string;
  readonly ecomOrderId: string;
  /** The sandbox's name for the merchant. */
  readonly merchant: string;
  readonly merchantId: string;
  readonly merchantRequestId: string;
  readonly hppPayType: 'PURCHASE' | 'A2A';
  readonly coinAmount: number;
  readonly paymentMethods: readonly string[];
  readonly redirectUrl: string;
  readonly statusUrl: string;
  readonly nbuQrCode: string | undefined;
  readonly notificationUrl: string | undefined;
  readonly notificationEncryption: boolean;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
  status: (typeof orderStatuses)[number];
  /** Oldest first. */
  readonly operations: PaymentOperation[];
}

/** The members of the answer to create-order, which every later message about the order has as well. */
export function orderMembers(order: Order): Readonly<Record<string, unknown>> {
  return {
    hppOrderId: order.hppOrderId,
    merchantRequestId: order.merchantRequestId,
    hppPayType: order.hppPayType,
    paymentMethods: order.paymentMethods,
    orderStatus: order.status,
    coinAmount: order.coinAmount,
    merchantId: order.merchantId,
    redirectUrl: order.redirectUrl,
    statusUrl: order.statusUrl,
    ...(order.nbuQrCode === undefined ? {} : { nbuQrCode: order.nbuQrCode }),
    expiredOrderDate: writtenDate(order.expiresAt),
    createDate: writtenDate(order.createdAt),
  };
}

/** The order with the members that only later messages have. */
export function orderDetails(order: Order): Readonly<Record<string, unknown>> {
  return {
    ...orderMembers(order),
    ecomOrderId: order.ecomOrderId,
    ...(order.notificationUrl === undefined ? {} : { notificationUrl: order.notificationUrl }),
  };
}
