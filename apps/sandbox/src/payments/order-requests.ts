import { randomBytes, randomUUID } from 'node:crypto';
import { plusMs } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { GatewayRefusal } from '../gateway/refusal.js';
import { InputFault, oneOf, openShape, optional, wholeNumber, type Reader } from '../input/read-input.js';
import { newOperation, operationMembers, type PaymentOperation } from './operation.js';
import { isOpen, orderDetails, orderMembers, payTypes, type Order } from './order.js';
import { namedClaim, type PaymentKind, type PaymentParts, type PaymentScene } from './played-payment.js';
import { amount, customerId, id, notEmptyListOf, notice, switchOrText, words, wordsOrNone } from './request-members.js';

const DEFAULT_EXPIRATION_MINUTES = 1_440;

/** How a payment at the hosted page can end, or stand. */
export const payingOutcomes = ['SUCCESS', 'FAIL', 'PENDING', 'REQUIRED_3DS'] as const;

const members = openShape({
  merchantRequestId: id,
  merchantId: id,
  hppPayType: oneOf(payTypes),
  coinAmount: amount,
  paymentMethods: notEmptyListOf(words),
  successUrl: words,
  failUrl: words,
  statusPageType: words,
  customerData: openShape({ senderCustomerId: customerId }),
  expirationTimeMinutes: optional(wholeNumber(1, 9_999)),
  language: optional(wordsOrNone),
  purpose: optional(wordsOrNone),
  merchantComment: optional(wordsOrNone),
  generateQrNbu: optional(switchOrText),
  ...notice,
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
  return {
    name: 'create-order',
    path: 'hpp/v1/create-order',
    form: 'json',
    reader,
    claim: namedClaim,
    opens: (request) => ({ ...request, use: request.hppPayType === 'A2A' ? 'a2a' : 'hosted' }),
    subject: ({ merchantRequestId }) => merchantRequestId,
    carryOut(request, scene) {
      const order = orderFrom(parts, request, scene);
      parts.book.addOrder(order);
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
    notificationUrl: request.notificationUrl || undefined,
    notificationEncryption: request.notificationEncryption ?? false,
    createdAt: now,
    expiresAt: plusMs(now, (request.expirationTimeMinutes ?? DEFAULT_EXPIRATION_MINUTES) * 60_000),
    status: 'CREATED',
    operations: [],
  };
}

const named = openShape({ hppOrderId: id });

/** What became of an order. */
export function orderOperations({ book, clock }: PaymentParts): PaymentKind<ReturnType<typeof named>> {
  return {
    name: 'order-operations',
    path: 'hpp/v1/operations',
    form: 'json',
    reader: named,
    carryOut({ hppOrderId }, { merchant }) {
      const order = book.order(hppOrderId);
      if (order?.merchant !== merchant.id) throw new GatewayRefusal('b_hpp_order_not_found');
      if (order.status === 'CREATED' && !isOpen(order, clock.now())) throw new GatewayRefusal('b_hpp_order_expired');
      return { ...orderDetails(order), operations: order.operations.map(operationMembers) };
    },
  };
}

/**
 * What the customer does at the hosted page. A payment that is still under way goes on; after a declined one, another
 * begins.
 * @throws BrokerError `invalid_request` for an order that can no longer be paid
 */
export function payOrder(
  { book, clock, notices }: Pick<PaymentParts, 'book' | 'clock' | 'notices'>,
  order: Order,
  outcome: (typeof payingOutcomes)[number],
): PaymentOperation {
  const now = clock.now();
  if (!isOpen(order, now)) {
    const publicDetail = order.expiresAt <= now ? 'the order has expired' : 'the order is paid already';
    throw new BrokerError('invalid_request', { publicDetail });
  }
  const { merchant, merchantId, merchantRequestId, coinAmount, hppOrderId, hppPayType } = order;
  const { notificationUrl, notificationEncryption } = order;
  const underWay = order.operations.find(({ status }) => status === 'PENDING' || status === 'REQUIRED_3DS');
  const operation =
    underWay ??
    newOperation(
      {
        ...{ merchant, merchantId, merchantRequestId, coinAmount, hppOrderId, notificationUrl, notificationEncryption },
        type: hppPayType === 'A2A' ? 'PURCHASE' : hppPayType,
        status: outcome,
        isRefundable: hppPayType === 'PURCHASE',
      },
      now,
    );
  Object.assign(operation, { status: outcome, modifiedAt: now });
  order.status = outcome;
  if (underWay === undefined) order.operations.push(operation);
  book.addOperation(operation);
  notices.changed(operation);
  return operation;
}
