import { randomInt, randomUUID } from 'node:crypto';
import { GatewayRefusal } from '../gateway/refusal.js';
import { openSealed } from '../gateway/sealing.js';
import { oneOf, openShape, optional } from '../input/read-input.js';
import type { PaymentClaim } from '../ledger/ledger.js';
import { demandCardData, readCard, type Card, type CardConduct } from './card.js';
import { directMembers, newOperation, type OperationStatus, type PaymentOperation } from './operation.js';
import { namedClaim, type PaymentKind, type PaymentParts, type PaymentScene } from './played-payment.js';
import { amountOrText, customerId, id, notice, sealedWords, sendingDate, wordsOrNone } from './request-members.js';

/** The direct payments in two steps, by the ends of their paths; they differ in nothing else. */
type DirectPayment = 'purchase' | 'preauth';
const types = { purchase: 'PURCHASE', preauth: 'PREAUTH' } as const;

const cardReader = openShape({
  merchantRequestId: id,
  merchantId: id,
  encryptedCardNumber: sealedWords,
  coinAmount: amountOrText,
  desiredThreeDSMode: oneOf(['MUST', 'MUST_NOT', 'SHOULD']),
  date: sendingDate,
  customerData: openShape({ senderCustomerId: customerId }),
  txnType: optional(oneOf(['NONCVV'])),
  resultRedirectUrl: optional(wordsOrNone),
  ...notice,
});

type CardRequest = ReturnType<typeof cardReader>;

/** The first step: the card, without its expiry and security code. */
export function createPayment(parts: PaymentParts, which: DirectPayment): PaymentKind<CardRequest> {
  const { book, notices, paymentKey } = parts;
  return {
    name: `create-${which}`,
    path: `payments/v3/create/${which}`,
    form: 'sealed',
    reader: cardReader,
    claim: namedClaim,
    opens: (request) => ({ ...request, use: 'direct' }),
    subject: ({ merchantRequestId }) => merchantRequestId,
    carryOut(request, scene) {
      const card = readCard(openSealed(request.encryptedCardNumber, paymentKey).toString('utf8').trim());
      const operation = operationFrom(parts, { type: types[which], request, card, scene });
      book.addOperation(operation);
      if (operation.status === 'SUCCESS' || operation.status === 'FAIL') notices.changed(operation);
      return directMembers(operation);
    },
  };
}

interface CardPayment {
  readonly type: (typeof types)[DirectPayment];
  readonly request: CardRequest;
  readonly card: Card;
  readonly scene: PaymentScene;
}

function operationFrom({ clock }: PaymentParts, { type, request, card, scene }: CardPayment): PaymentOperation {
  const status = statusOf(request, card.conduct);
  const operationId = randomUUID();
  const { merchantRequestId, merchantId, coinAmount, notificationUrl, notificationEncryption } = request;
  return newOperation(
    {
      ...{ operationId, merchantRequestId, merchantId, coinAmount, notificationUrl, notificationEncryption, status },
      type,
      merchant: scene.merchant.id,
      isRefundable: type === 'PURCHASE',
      card: {
        cardNumberMask: card.mask,
        approvalCode: String(randomInt(0, 10 ** 6)).padStart(6, '0'),
        fate: card.conduct === 'is_not_authorized' ? 'is_not_authorized' : 'pays',
        redirect3dsUrl: status === 'REQUIRED_3DS' ? `${scene.ownUrl}/3ds/${operationId}` : undefined,
      },
    },
    clock.now(),
  );
}

/** @throws GatewayRefusal `b_authorize_transaction_failed` when no further step is to come and the bank declines */
function statusOf(request: CardRequest, conduct: CardConduct): OperationStatus {
  const { desiredThreeDSMode: mode, txnType } = request;
  if (conduct === 'fails') return 'FAIL';
  if (conduct === 'demands_3ds' && mode === 'MUST_NOT') return 'DESIRED_THREEDS_MODE_ERROR';
  if (conduct === 'demands_3ds' || mode === 'MUST') return 'REQUIRED_3DS';
  if (txnType !== 'NONCVV') return 'PENDING';
  if (conduct === 'is_not_authorized') throw new GatewayRefusal('b_authorize_transaction_failed');
  return 'SUCCESS';
}

const dataReader = openShape({
  operationId: id,
  encryptedCardData: sealedWords,
  date: sendingDate,
  browserInfo: optional(openShape({})),
});

type DataRequest = ReturnType<typeof dataReader>;

/** The second step: expiry and security code, and the browser if 3-D Secure was needed. */
export function executePayment(parts: PaymentParts, which: DirectPayment): PaymentKind<DataRequest> {
  const { book, clock, notices } = parts;
  return {
    name: `execute-${which}`,
    path: `payments/v1/execute/${which}`,
    form: 'sealed',
    reader: dataReader,
    claim: ({ operationId }) => claimOf(parts, operationId),
    subject: ({ operationId }) => operationId,
    carryOut(request, { merchant }) {
      const operation = book.operation(request.operationId);
      const isMeant =
        operation?.type === types[which] && operation.hppOrderId === '' && operation.merchant === merchant.id;
      if (!isMeant) throw new GatewayRefusal('b_payment_not_found');
      demandExecutable(parts, operation, request);
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

function demandExecutable(parts: PaymentParts, operation: PaymentOperation, request: DataRequest): void {
  const { settings, paymentKey } = parts;
  const isAgain = operation.status === 'SUCCESS' && settings.duplicates === 'accepted';
  const isDue = operation.status === 'PENDING' || operation.status === 'REQUIRED_3DS';
  if (!isDue && !isAgain) {
    throw new GatewayRefusal('b_txn_not_allowed', { msgText: 'The operation is in no state to be executed' });
  }
  if (operation.status === 'REQUIRED_3DS' && request.browserInfo === undefined) {
    throw new GatewayRefusal('VALIDATION_ERROR', { msgText: 'browserInfo must be given for 3-D Secure' });
  }
  demandCardData(openSealed(request.encryptedCardData, paymentKey).toString('utf8').trim());
}
