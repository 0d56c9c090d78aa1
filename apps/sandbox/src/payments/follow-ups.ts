import { GatewayRefusal, type MsgCode } from '../gateway/refusal.js';
import { openShape, optional } from '../input/read-input.js';
import {
  directMembers,
  lookedUpMembers,
  newOperation,
  type OperationStart,
  type PaymentOperation,
} from './operation.js';
import { namedClaim, type PaymentKind, type PaymentParts, type PaymentScene } from './played-payment.js';
import { amountOrText, id, notice, sendingDate, wordsOrNone } from './request-members.js';

const common = {
  merchantRequestId: id,
  merchantId: id,
  coinAmount: amountOrText,
  date: sendingDate,
  merchantComment: optional(wordsOrNone),
  ...notice,
};
const refundReader = openShape({ operationId: id, ...common });
type RefundRequest = ReturnType<typeof refundReader>;

/** Gives back all or part of a payment: pending at first, completed a little later. */
export function refund(parts: PaymentParts): PaymentKind<RefundRequest> {
  const { book, notices } = parts;
  return {
    name: 'refund',
    path: 'payments/v3/refund',
    form: 'sealed',
    reader: refundReader,
    claim: namedClaim,
    opens: (request) => ({ ...request, use: 'refund' }),
    subject: ({ operationId }) => operationId,
    carryOut(request, scene) {
      const original = refundable(book.operation(request.operationId), scene.merchant.id);
      const operation = followUp(parts, {
        ...{ request, scene, original, tooMuch: 'b_payment_invalid_refund_amount' },
        ...{ type: 'REFUND', status: 'PENDING' },
      });
      const order = book.order(original.hppOrderId);
      order?.operations.push(operation);
      notices.settle(operation, () => {
        if (order !== undefined) order.status = original.used < original.coinAmount ? 'PARTIAL_REFUND' : 'CANCELED';
      });
      return directMembers(operation);
    },
  };
}

function refundable(operation: PaymentOperation | undefined, merchant: string): PaymentOperation {
  if (operation?.merchant !== merchant) throw new GatewayRefusal('b_operation_not_found');
  if (operation.isRefundable !== true) throw new GatewayRefusal('b_payment_refund_not_supported');
  if (operation.status !== 'SUCCESS') throw new GatewayRefusal('b_payment_invalid_refund_status');
  return operation;
}

const completionReader = openShape({ originalOperationId: id, ...common });
type CompletionRequest = ReturnType<typeof completionReader>;

/** Takes all or part of what a preauthorization holds, once. */
export function completion(parts: PaymentParts): PaymentKind<CompletionRequest> {
  const { book, notices } = parts;
  return {
    name: 'completion',
    path: 'payments/v1/completion',
    form: 'sealed',
    reader: completionReader,
    claim: namedClaim,
    opens: (request) => ({ ...request, use: 'direct' }),
    subject: ({ originalOperationId }) => originalOperationId,
    carryOut(request, scene) {
      const original = book.operation(request.originalOperationId);
      if (original?.merchant !== scene.merchant.id) throw new GatewayRefusal('b_operation_not_found');
      if (original.type !== 'PREAUTH' || original.status !== 'SUCCESS' || original.used > 0) {
        throw new GatewayRefusal('b_txn_not_allowed', { msgText: 'The operation is in no state to be completed' });
      }
      const operation = followUp(parts, {
        ...{ request, scene, original, tooMuch: 'b_txn_not_allowed' },
        ...{ type: 'COMPLETION', status: 'SUCCESS', isRefundable: true },
      });
      book.order(original.hppOrderId)?.operations.push(operation);
      notices.changed(operation);
      return directMembers(operation);
    },
  };
}

interface FollowUp extends Pick<OperationStart, 'type' | 'status' | 'isRefundable'> {
  readonly request: Omit<RefundRequest, 'operationId'>;
  readonly scene: PaymentScene;
  readonly original: PaymentOperation;
  /** The code for more than there is. */
  readonly tooMuch: MsgCode;
}

function followUp({ book, clock }: PaymentParts, { request, scene, original, tooMuch, ...start }: FollowUp) {
  const { merchantRequestId, merchantId, coinAmount, notificationUrl, notificationEncryption } = request;
  if (original.used + coinAmount > original.coinAmount) throw new GatewayRefusal(tooMuch);
  original.used += coinAmount;
  const { hppOrderId } = original;
  const operation = newOperation(
    {
      ...{ merchantRequestId, merchantId, coinAmount, notificationUrl, notificationEncryption, hppOrderId },
      ...{ ...start, original, merchant: scene.merchant.id },
    },
    clock.now(),
  );
  book.addOperation(operation);
  return operation;
}

const byRequestReader = openShape({ merchantRequestId: id });
const byIdReader = openShape({ id });

/** What became of a request of which nobody knows: by the id that the merchant gave it. */
export function operationByRequest({ book }: PaymentParts): PaymentKind<ReturnType<typeof byRequestReader>> {
  return {
    name: 'operation-by-request',
    path: 'payments/v1/operation/by_merchant_request_id',
    form: 'sealed',
    reader: byRequestReader,
    carryOut({ merchantRequestId }, { merchant }) {
      const operation = book.byRequest({ merchant: merchant.id, merchantRequestId });
      if (operation === undefined) throw new GatewayRefusal('b_operation_not_found');
      return lookedUpMembers(operation);
    },
  };
}

/** What became of an operation, by the gateway's own id. */
export function operationById({ book }: PaymentParts): PaymentKind<ReturnType<typeof byIdReader>> {
  return {
    name: 'operation-by-id',
    path: 'payments/v1/operations',
    form: 'sealed',
    reader: byIdReader,
    carryOut({ id: operationId }, { merchant }) {
      const operation = book.operation(operationId);
      if (operation?.merchant !== merchant.id) throw new GatewayRefusal('payment_operation_not_found');
      return lookedUpMembers(operation);
    },
  };
}
