import type { Instant } from '#libs/clock';
import { writtenDate } from './written-date.js';

export type OperationStatus = 'SUCCESS' | 'FAIL' | 'PENDING' | 'REQUIRED_3DS' | 'DESIRED_THREEDS_MODE_ERROR';

const HRYVNIA = '980';

/** Money on its way in or back, as the gateway records it: for an order on the hosted page, or direct. */
export interface PaymentOperation {
  readonly type: 'PURCHASE' | 'REFUND';
  readonly operationId: string;
  readonly ecomOperationId: string;
  /** The sandbox's name for the merchant. */
  readonly merchant: string;
  readonly merchantId: string;
  readonly merchantRequestId: string;
  /** Empty for a direct payment. */
  readonly hppOrderId: string;
  readonly coinAmount: number;
  readonly notificationUrl: string | undefined;
  readonly notificationEncryption: boolean;
  readonly createdAt: Instant;
  readonly rrn: string;
  /** The operation that a refund gives back. */
  readonly original: PaymentOperation | undefined;
  readonly card: PaidWith | undefined;
  /** Whether it can be refunded at all. */
  readonly isRefundable: boolean;
  status: OperationStatus;
  modifiedAt: Instant;
  /** How much of it is to be given back, in coins; refused refunds do not count. */
  refunded: number;
}

/** What the bank shows of a card. */
export interface PaidWith {
  readonly cardNumberMask: string;
  readonly approvalCode: string;
  /** What will become of it once the card data is known. */
  readonly fate: 'pays' | 'is_not_authorized';
  readonly redirect3dsUrl: string | undefined;
}

/** An operation as reported within an order and in notifications. No member is null: missing ones are left out. */
export function operationMembers(operation: PaymentOperation): Readonly<Record<string, unknown>> {
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
    ...dateMembers(operation),
    rrn: operation.rrn,
    productType: operation.hppOrderId === '' ? 'ECOM_DIRECT' : 'ECOM_HPP',
    transactionType: operation.type === 'PURCHASE' ? 0 : 20,
    notificationUrl: operation.notificationUrl ?? '',
    notificationEncryption: operation.notificationEncryption,
    ...originalMembers(operation.original),
  };
}

/** The same, plus what only the answer to a direct request has. */
export function directMembers(operation: PaymentOperation): Readonly<Record<string, unknown>> {
  const { card } = operation;
  return {
    ...operationMembers(operation),
    merchantRequestId: operation.merchantRequestId,
    // The published example of a refund says createDateTime, the tables say creationDateTime.
    createDateTime: writtenDate(operation.createdAt),
    ...(card === undefined ? {} : { cardNumberMask: card.cardNumberMask }),
    ...(card?.redirect3dsUrl === undefined ? {} : { redirect3dsUrl: card.redirect3dsUrl }),
    ...(card === undefined || operation.status !== 'SUCCESS' ? {} : { approvalCode: card.approvalCode }),
  };
}

function dateMembers({ createdAt, modifiedAt }: PaymentOperation): Readonly<Record<string, string>> {
  return { creationDateTime: writtenDate(createdAt), modificationDateTime: writtenDate(modifiedAt) };
}

function originalMembers(original: PaymentOperation | undefined): Readonly<Record<string, unknown>> {
  if (original === undefined) return {};
  return {
    rrnOriginal: original.rrn,
    originalOperationId: original.operationId,
    originalCoinAmount: original.coinAmount,
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
