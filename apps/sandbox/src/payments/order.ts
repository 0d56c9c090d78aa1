import type { Instant } from '#libs/clock';
import { writtenDate, type OperationStatus, type PaymentOperation } from './operation.js';

export const payTypes = ['PURCHASE', 'A2A', 'PREAUTH', 'VERIFICATION'] as const;

/** An order on the hosted page, as the gateway keeps it. */
export interface Order {
  readonly hppOrderId: string;
  readonly ecomOrderId: string;
  /** The sandbox's name for the merchant. */
  readonly merchant: string;
  readonly merchantId: string;
  readonly merchantRequestId: string;
  readonly hppPayType: (typeof payTypes)[number];
  readonly coinAmount: number;
  readonly paymentMethods: readonly string[];
  readonly redirectUrl: string;
  readonly statusUrl: string;
  readonly nbuQrCode: string | undefined;
  readonly notificationUrl: string | undefined;
  readonly notificationEncryption: boolean;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
  /** `PARTIAL_REFUND` and `CANCELED` are observed: after refunds of a part, and of the whole. */
  status: OperationStatus | 'CREATED' | 'CANCELED' | 'PARTIAL_REFUND';
  /** Oldest first. */
  readonly operations: PaymentOperation[];
}

/** Whether the customer can still pay it. */
export function isOpen({ status, expiresAt }: Order, now: Instant): boolean {
  return !['SUCCESS', 'CANCELED', 'PARTIAL_REFUND'].includes(status) && expiresAt > now;
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
  const { ecomOrderId, notificationUrl } = order;
  return { ...orderMembers(order), ecomOrderId, ...(notificationUrl === undefined ? {} : { notificationUrl }) };
}
