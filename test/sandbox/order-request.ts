import { randomUUID } from 'node:crypto';

export type Members = Readonly<Record<string, unknown>>;

/** An order on the hosted page, as the gateway wants it. @param members what should differ */
export function orderRequest(members: Members = {}): Members {
  return {
    merchantRequestId: randomUUID(),
    merchantId: 'terminal-1',
    hppPayType: 'PURCHASE',
    coinAmount: 12_500,
    paymentMethods: ['PAN', 'GOOGLE_PAY'],
    successUrl: 'https://shop.example/thanks',
    failUrl: 'https://shop.example/sorry',
    statusPageType: 'STATUS_TIMER_PAGE',
    customerData: { senderCustomerId: 'customer-1' },
    ...members,
  };
}

/** When a payment is sent, as the bank wants it. */
export const DATE = '2026-03-18 11:58:41.56+00:00';

/** The first step of a direct purchase. @param encryptedCardNumber to the bank's key for card data */
export function purchaseRequest(encryptedCardNumber: string, members: Members = {}): Members {
  return {
    merchantRequestId: randomUUID(),
    merchantId: 'terminal-1',
    encryptedCardNumber,
    coinAmount: 12_500,
    desiredThreeDSMode: 'MUST_NOT',
    date: DATE,
    customerData: { senderCustomerId: 'customer-1' },
    ...members,
  };
}

/** A refund of one hryvnia. */
export function refundRequest(operationId: unknown, members: Members = {}): Members {
  const ids = { merchantRequestId: randomUUID(), merchantId: 'terminal-1', operationId };
  return { ...ids, coinAmount: '100', date: DATE, ...members };
}
