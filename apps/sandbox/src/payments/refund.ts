import { GatewayRefusal } from '../gateway/refusal.js';
import { openShape } from '../input/read-input.js';
import { newOperation } from './new-operation.js';
import { directMembers, type PaymentOperation } from './payment-operation.js';
import { namedClaim, type PaymentKind, type PaymentParts } from './played-payment.js';
import { amountOrText, id, notRequired, sendingDate, switchOrText, wordsOrNone } from './request-members.js';
import { demandTerminal } from './terminal.js';

const reader = openShape({
  merchantRequestId: id,
  merchantId: id,
  operationId: id,
  coinAmount: amountOrText,
  date: sendingDate,
  notificationUrl: notRequired(wordsOrNone),
  notificationEncryption: notRequired(switchOrText),
  merchantComment: notRequired(wordsOrNone),
});

type RefundRequest = ReturnType<typeof reader>;

/** Gives back all or part of a payment: pending at first, completed a little later. */
export function refund(parts: PaymentParts): PaymentKind<RefundRequest> {
  const { merchants, attempts, book, clock, notices } = parts;
  return {
    name: 'refund',
    path: '/ecom/execute_request/payments/v3/refund',
    form: 'sealed',
    reader,
    claim: namedClaim,
    carryOut(request, { merchant }) {
      demandTerminal(merchants, { merchant, merchantId: request.merchantId, use: 'refund' });
      attempts.count(JSON.stringify(['refund', merchant.id, request.operationId]));
      demandUnused(parts, request, merchant.id);
      const original = refundable(book.operation(request.operationId), merchant.id);
      if (original.refunded + request.coinAmount > original.coinAmount) {
        throw new GatewayRefusal('b_payment_invalid_refund_amount');
      }
      original.refunded += request.coinAmount;
      const { merchantRequestId, merchantId, coinAmount, notificationUrl, notificationEncryption } = request;
      const operation = newOperation(
        {
          ...{ merchantRequestId, merchantId, coinAmount, notificationUrl, notificationEncryption, original },
          type: 'REFUND',
          status: 'PENDING',
          merchant: merchant.id,
          hppOrderId: original.hppOrderId,
        },
        clock.now(),
      );
      book.addOperation(operation);
      book.order(original.hppOrderId)?.operations.push(operation);
      notices.settle(operation);
      return directMembers(operation);
    },
  };
}

function demandUnused({ settings, book }: PaymentParts, { merchantRequestId }: RefundRequest, merchant: string): void {
  if (settings.duplicates === 'refused' && book.isUsed('REFUND', { merchant, merchantRequestId })) {
    throw new GatewayRefusal('b_duplicate_field_value');
  }
}

function refundable(operation: PaymentOperation | undefined, merchant: string): PaymentOperation {
  if (operation?.merchant !== merchant) throw new GatewayRefusal('b_operation_not_found');
  if (!operation.isRefundable) throw new GatewayRefusal('b_payment_refund_not_supported');
  if (operation.status !== 'SUCCESS') throw new GatewayRefusal('b_payment_invalid_refund_status');
  return operation;
}
