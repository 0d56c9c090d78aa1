import { randomInt, randomUUID } from 'node:crypto';
import type { Instant } from '#libs/clock';
import type { OperationStatus, PaidWith, PaymentOperation } from './payment-operation.js';

/** What an operation starts with; the gateway adds its own ids and times. */
export interface OperationStart {
  readonly type: PaymentOperation['type'];
  readonly merchant: string;
  readonly merchantId: string;
  readonly merchantRequestId: string;
  readonly coinAmount: number;
  readonly status: OperationStatus;
  readonly hppOrderId?: string;
  readonly notificationUrl?: string | undefined;
  readonly notificationEncryption?: boolean | undefined;
  readonly original?: PaymentOperation;
  readonly card?: PaidWith;
  readonly isRefundable?: boolean;
  /** Set if a link in the answer already has to name it. */
  readonly operationId?: string;
}

export function newOperation(start: OperationStart, now: Instant): PaymentOperation {
  const { notificationUrl } = start;
  return {
    ...start,
    operationId: start.operationId ?? randomUUID(),
    ecomOperationId: randomUUID(),
    hppOrderId: start.hppOrderId ?? '',
    notificationUrl: notificationUrl === '' ? undefined : notificationUrl,
    notificationEncryption: start.notificationEncryption ?? false,
    original: start.original,
    card: start.card,
    isRefundable: start.isRefundable ?? start.type === 'PURCHASE',
    createdAt: now,
    modifiedAt: now,
    rrn: String(randomInt(0, 10 ** 12)).padStart(12, '0'),
    refunded: 0,
  };
}
