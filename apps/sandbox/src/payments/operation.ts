import { randomInt, randomUUID } from 'node:crypto';
import { toRfc3339, type Instant } from '#libs/clock';

export type OperationStatus = 'SUCCESS' | 'FAIL' | 'PENDING' | 'REQUIRED_3DS' | 'DESIRED_THREEDS_MODE_ERROR';
export type OperationType = 'PURCHASE' | 'PREAUTH' | 'VERIFICATION' | 'COMPLETION' | 'REFUND';

const HRYVNIA = '980';

/** What an operation starts with; the gateway adds its own ids and times. */
export interface OperationStart {
  readonly type: OperationType;
  /** The sandbox's name for the merchant. */
  readonly merchant: string;
  readonly merchantId: string;
  readonly merchantRequestId: string;
  readonly coinAmount: number;
  readonly notificationUrl?: string | undefined;
  readonly notificationEncryption?: boolean | undefined;
  /** The operation that a refund gives back, or a completion completes. */
  readonly original?: PaymentOperation;
  readonly card?: PaidWith;
  /** Left out for a direct payment. */
  readonly hppOrderId?: string;
  readonly isRefundable?: boolean;
  /** Set if a link in the answer already has to name it. */
  readonly operationId?: string;
  status: OperationStatus;
}

/** Money on its way in or back, as the gateway records it: for an order on the hosted page, or direct. */
export interface PaymentOperation extends OperationStart {
  readonly operationId: string;
  readonly ecomOperationId: string;
  readonly hppOrderId: string;
  readonly rrn: string;
  readonly createdAt: Instant;
  modifiedAt: Instant;
  /** How much of it is to be given back, or has been taken of it, in coins; refused requests do not count. */
  used: number;
}

/** What the bank shows of a card. */
export interface PaidWith {
  readonly cardNumberMask: string;
  readonly approvalCode: string;
  /** What will become of it once the card data is known. */
  readonly fate: 'pays' | 'is_not_authorized';
  readonly redirect3dsUrl: string | undefined;
}

export function newOperation(start: OperationStart, now: Instant): PaymentOperation {
  return {
    operationId: randomUUID(),
    ecomOperationId: randomUUID(),
    hppOrderId: '',
    ...start,
    notificationUrl: start.notificationUrl || undefined,
    createdAt: now,
    modifiedAt: now,
    rrn: String(randomInt(0, 10 ** 12)).padStart(12, '0'),
    used: 0,
  };
}

/** An operation as reported within an order and in notifications. No member is null: missing ones are left out. */
export function operationMembers(operation: PaymentOperation): Readonly<Record<string, unknown>> {
  const created = writtenDate(operation.createdAt);
  return {
    type: operation.type,
    coinAmount: operation.coinAmount,
    merchantId: operation.merchantId,
    operationId: operation.operationId,
    ecomOperationId: operation.ecomOperationId,
    status: operation.status,
    transactionCurrency: HRYVNIA,
    hppOrderId: operation.hppOrderId,
    transactionResponseInfo: responseInfo(operation.status),
    // The published example of a refund says createDateTime, the tables say creationDateTime.
    createDateTime: created,
    creationDateTime: created,
    modificationDateTime: writtenDate(operation.modifiedAt),
    rrn: operation.rrn,
    productType: operation.hppOrderId === '' ? 'ECOM_DIRECT' : 'ECOM_HPP',
    transactionType: operation.type === 'REFUND' ? 20 : 0,
    notificationUrl: operation.notificationUrl ?? '',
    notificationEncryption: operation.notificationEncryption ?? false,
    ...originalMembers(operation),
  };
}

/** The same, plus what only the answer to a direct request has. */
export function directMembers(operation: PaymentOperation): Readonly<Record<string, unknown>> {
  const { card, status, merchantRequestId } = operation;
  return {
    ...operationMembers(operation),
    merchantRequestId,
    ...(card === undefined ? {} : { cardNumberMask: card.cardNumberMask }),
    ...(card?.redirect3dsUrl === undefined ? {} : { redirect3dsUrl: card.redirect3dsUrl }),
    ...(card === undefined || status !== 'SUCCESS' ? {} : { approvalCode: card.approvalCode }),
  };
}

/** What a lookup answers: members without a value are null, as published for lookups alone. */
export function lookedUpMembers(operation: PaymentOperation): Readonly<Record<string, unknown>> {
  const without = ['cardNumberMask', 'approvalCode', 'redirect3dsUrl', 'rrnOriginal', 'originalOperationId'];
  return { ...Object.fromEntries(without.map((name) => [name, null])), ...directMembers(operation) };
}

function originalMembers({ type, original }: PaymentOperation): Readonly<Record<string, unknown>> {
  if (original === undefined) return {};
  const { operationId, coinAmount } = original;
  if (type === 'COMPLETION') return { preauthOperationId: operationId, preauthCoinAmount: coinAmount };
  return {
    rrnOriginal: original.rrn,
    originalOperationId: operationId,
    originalCoinAmount: coinAmount,
    originalEcomOperationId: original.ecomOperationId,
  };
}

/** Text only: observed clients reject a null here. */
function responseInfo(status: OperationStatus): Readonly<Record<string, string>> {
  const [actionCode, responseCode, description] = {
    SUCCESS: ['0', '00', 'Approved'],
    FAIL: ['1', '05', 'Declined'],
    PENDING: ['9', '09', 'In progress'],
    REQUIRED_3DS: ['9', '65', '3-D Secure is required'],
    DESIRED_THREEDS_MODE_ERROR: ['1', '57', 'The card does not allow the desired 3-D Secure mode'],
  }[status] as [string, string, string];
  return { actionCode, responseCode, description };
}

/** `2022-11-11 11:58:41.560+00:00`, as the published examples write a time. */
export function writtenDate(at: Instant): string {
  return toRfc3339(at).replace('T', ' ').replace('Z', '+00:00');
}
