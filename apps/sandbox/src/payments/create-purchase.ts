import { randomInt, randomUUID } from 'node:crypto';
import { GatewayRefusal } from '../gateway/refusal.js';
import { openSealed } from '../gateway/sealing.js';
import { oneOf, openShape } from '../input/read-input.js';
import { readCard, type Card, type CardConduct } from './card.js';
import { newOperation } from './new-operation.js';
import { directMembers, type OperationStatus, type PaidWith, type PaymentOperation } from './payment-operation.js';
import { namedClaim, type PaymentKind, type PaymentParts, type PaymentScene } from './played-payment.js';
import {
  amountOrText,
  customerId,
  id,
  notRequired,
  sealedWords,
  sendingDate,
  switchOrText,
  wordsOrNone,
} from './request-members.js';
import { demandTerminal } from './terminal.js';

const reader = openShape({
  merchantRequestId: id,
  merchantId: id,
  encryptedCardNumber: sealedWords,
  coinAmount: amountOrText,
  desiredThreeDSMode: oneOf(['MUST', 'MUST_NOT', 'SHOULD']),
  date: sendingDate,
  customerData: openShape({ senderCustomerId: customerId }),
  txnType: notRequired(oneOf(['NONCVV'])),
  notificationUrl: notRequired(wordsOrNone),
  notificationEncryption: notRequired(switchOrText),
  resultRedirectUrl: notRequired(wordsOrNone),
});

type PurchaseRequest = ReturnType<typeof reader>;

/** The first step of a direct purchase: the card, without its expiry and security code. */
export function createPurchase(parts: PaymentParts): PaymentKind<PurchaseRequest> {
  const { merchants, attempts, book, settings, notices, paymentKey } = parts;
  return {
    name: 'create-purchase',
    path: '/ecom/execute_request/payments/v3/create/purchase',
    form: 'sealed',
    reader,
    claim: namedClaim,
    carryOut(request, scene) {
      const { merchant } = scene;
      demandTerminal(merchants, { merchant, merchantId: request.merchantId, use: 'direct' });
      const by = { merchant: merchant.id, merchantRequestId: request.merchantRequestId };
      attempts.count(JSON.stringify(['purchase', by]));
      if (settings.duplicates === 'refused' && book.isUsed('PURCHASE', by)) {
        throw new GatewayRefusal('b_duplicate_field_value');
      }
      const card = readCard(openSealed(request.encryptedCardNumber, paymentKey).toString('utf8').trim());
      const operation = operationFrom(parts, { request, card, scene });
      book.addOperation(operation);
      if (operation.status === 'SUCCESS' || operation.status === 'FAIL') notices.changed(operation);
      return directMembers(operation);
    },
  };
}

interface Purchase {
  readonly request: PurchaseRequest;
  readonly card: Card;
  readonly scene: PaymentScene;
}

function operationFrom({ clock }: PaymentParts, { request, card, scene }: Purchase): PaymentOperation {
  const status = statusOf(request, card.conduct);
  const operationId = randomUUID();
  const paidWith: PaidWith = {
    cardNumberMask: card.mask,
    approvalCode: String(randomInt(0, 10 ** 6)).padStart(6, '0'),
    fate: card.conduct === 'is_not_authorized' ? 'is_not_authorized' : 'pays',
    redirect3dsUrl: status === 'REQUIRED_3DS' ? `${scene.ownUrl}/3ds/${operationId}` : undefined,
  };
  const { merchantRequestId, merchantId, coinAmount, notificationUrl, notificationEncryption } = request;
  return newOperation(
    {
      ...{ operationId, merchantRequestId, merchantId, coinAmount, notificationUrl, notificationEncryption, status },
      type: 'PURCHASE',
      merchant: scene.merchant.id,
      card: paidWith,
    },
    clock.now(),
  );
}

/** @throws GatewayRefusal `b_authorize_transaction_failed` when no further step is to come and the bank declines */
function statusOf(request: PurchaseRequest, conduct: CardConduct): OperationStatus {
  const { desiredThreeDSMode: mode, txnType } = request;
  if (conduct === 'fails') return 'FAIL';
  if (conduct === 'demands_3ds' && mode === 'MUST_NOT') return 'DESIRED_THREEDS_MODE_ERROR';
  if (conduct === 'demands_3ds' || mode === 'MUST') return 'REQUIRED_3DS';
  if (txnType !== 'NONCVV') return 'PENDING';
  if (conduct === 'is_not_authorized') throw new GatewayRefusal('b_authorize_transaction_failed');
  return 'SUCCESS';
}
