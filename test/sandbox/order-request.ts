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
