import { GatewayRefusal } from '../gateway/refusal.js';
import { openSealed } from '../gateway/sealing.js';
import { openShape } from '../input/read-input.js';
import type { PaymentClaim } from '../ledger/ledger.js';
import { demandNotExpired, readCardData } from './card.js';
import { directMembers, type PaymentOperation } from './payment-operation.js';
import type { PaymentKind, PaymentParts } from './played-payment.js';
import { id, notRequired, sealedWords, sendingDate } from './request-members.js';

const reader = openShape({
  operationId: id,
  encryptedCardData: sealedWords,
  date: sendingDate,
  browserInfo: notRequired(openShape({})),
});

type ExecuteRequest = ReturnType<typeof reader>;

/** The second step of a direct purchase: expiry and security code, and the browser if 3-D Secure was needed. */
export function executePurchase(parts: PaymentParts): PaymentKind<ExecuteRequest> {
  const { attempts, book, clock, notices } = parts;
  return {
    name: 'execute-purchase',
    path: '/ecom/execute_request/payments/v1/execute/purchase',
    form: 'sealed',
    reader,
    claim: ({ operationId }) => claimOf(parts, operationId),
    carryOut(request, { merchant }) {
      attempts.count(JSON.stringify(['execute', merchant.id, request.operationId]));
      const operation = book.operation(request.operationId);
      demandExecutable(parts, operation, merchant.id);
      if (operation.status === 'REQUIRED_3DS' && request.browserInfo === undefined) {
        throw new GatewayRefusal('VALIDATION_ERROR', { msgText: 'browserInfo must be given for 3-D Secure' });
      }
      demandCardData(parts, request);
      const isAuthorized = operation.card?.fate !== 'is_not_authorized';
      operation.status = isAuthorized ? 'SUCCESS' : 'FAIL';
      operation.modifiedAt = clock.now();
      notices.changed(operation);
      if (!isAuthorized) throw new GatewayRefusal('b_authorize_transaction_failed');
      return directMembers(operation);
    },
  };
}

/** The step has no merchantRequestId of its own: it uses that of the first step. */
function claimOf({ book }: PaymentParts, operationId: unknown): Pick<PaymentClaim, 'merchantRequestId' | 'coinAmount'> {
  if (typeof operationId !== 'string' || operationId.length > 36) return {};
  const operation = book.operation(operationId);
  if (operation === undefined) return { merchantRequestId: operationId };
  return { merchantRequestId: operation.merchantRequestId, coinAmount: operation.coinAmount };
}

function demandExecutable(
  { settings }: PaymentParts,
  operation: PaymentOperation | undefined,
  merchant: string,
): asserts operation is PaymentOperation {
  const isDirectPurchase = operation?.type === 'PURCHASE' && operation.hppOrderId === '';
  if (!isDirectPurchase || operation.merchant !== merchant) throw new GatewayRefusal('b_payment_not_found');
  const isAgain = operation.status === 'SUCCESS' && settings.duplicates === 'accepted';
  const isDue = operation.status === 'PENDING' || operation.status === 'REQUIRED_3DS';
  if (!isDue && !isAgain) {
    throw new GatewayRefusal('b_txn_not_allowed', { msgText: 'The operation is in no state to be executed' });
  }
}

function demandCardData({ clock, settings, paymentKey }: PaymentParts, { encryptedCardData }: ExecuteRequest): void {
  const data = readCardData(openSealed(encryptedCardData, paymentKey).toString('utf8').trim());
  // Off by default: the published example of card data expired in March 2025.
  if (settings.cardExpiry === 'checked') demandNotExpired(data, new Date(clock.now()));
}
