import { randomBytes, randomUUID } from 'node:crypto';
import { plusMs } from '#libs/clock';
import { GatewayRefusal } from '../gateway/refusal.js';
import { InputFault, oneOf, openShape, wholeNumber, type Reader } from '../input/read-input.js';
import { orderMembers, type Order } from './order.js';
import { namedClaim, type PaymentKind, type PaymentParts, type PaymentScene } from './played-payment.js';
import {
  amount,
  customerId,
  id,
  notEmptyListOf,
  notRequired,
  switchOrText,
  words,
  wordsOrNone,
} from './request-members.js';
import { demandTerminal } from './terminal.js';

const DEFAULT_EXPIRATION_MINUTES = 1_440;

const members = openShape({
  merchantRequestId: id,
  merchantId: id,
  hppPayType: oneOf(['PURCHASE', 'A2A']),
  coinAmount: amount,
  paymentMethods: notEmptyListOf(words),
  successUrl: words,
  failUrl: words,
  statusPageType: words,
  customerData: openShape({ senderCustomerId: customerId }),
  expirationTimeMinutes: notRequired(wholeNumber(1, 9_999)),
  language: notRequired(wordsOrNone),
  notificationUrl: notRequired(wordsOrNone),
  notificationEncryption: notRequired(switchOrText),
  purpose: notRequired(wordsOrNone),
  merchantComment: notRequired(wordsOrNone),
  generateQrNbu: notRequired(switchOrText),
});

type OrderRequest = ReturnType<typeof members>;

const reader: Reader<OrderRequest> = (value, path) => {
  const request = members(value, path);
  const lacksComment = request.hppPayType === 'A2A' && (request.merchantComment ?? '') === '';
  if (lacksComment) throw new InputFault('merchantComment must be given for A2A');
  return request;
};

/** An order on the hosted page. */
export function createOrder(parts: PaymentParts): PaymentKind<OrderRequest> {
  const { merchants, attempts, book, settings } = parts;
  return {
    name: 'create-order',
    path: '/ecom/execute_request/hpp/v1/create-order',
    form: 'json',
    reader,
    claim: namedClaim,
    carryOut(request, scene) {
      const { merchant } = scene;
      const use = request.hppPayType === 'A2A' ? 'a2a' : 'hosted';
      demandTerminal(merchants, { merchant, merchantId: request.merchantId, use });
      const by = { merchant: merchant.id, merchantRequestId: request.merchantRequestId };
      attempts.count(JSON.stringify(['order', by]));
      if (settings.duplicates === 'refused' && book.isUsed('order', by)) {
        throw new GatewayRefusal('b_duplicate_field_value');
      }
      const order = orderFrom(parts, request, scene);
      book.addOrder(order);
      return orderMembers(order);
    },
  };
}

function orderFrom({ clock }: PaymentParts, request: OrderRequest, { merchant, ownUrl }: PaymentScene): Order {
  const hppOrderId = randomUUID();
  const now = clock.now();
  const { merchantId, merchantRequestId, hppPayType, coinAmount, paymentMethods } = request;
  return {
    ...{ merchantId, merchantRequestId, hppPayType, coinAmount, paymentMethods },
    hppOrderId,
    ecomOrderId: randomUUID(),
    merchant: merchant.id,
    redirectUrl: `${ownUrl}/hpp/orders/${hppOrderId}`,
    statusUrl: `${ownUrl}/hpp/orders/${hppOrderId}/status`,
    nbuQrCode: request.generateQrNbu === true ? randomBytes(48).toString('base64url') : undefined,
    notificationUrl: request.notificationUrl === '' ? undefined : request.notificationUrl,
    notificationEncryption: request.notificationEncryption ?? false,
    createdAt: now,
    expiresAt: plusMs(now, (request.expirationTimeMinutes ?? DEFAULT_EXPIRATION_MINUTES) * 60_000),
    status: 'CREATED',
    operations: [],
  };
}
