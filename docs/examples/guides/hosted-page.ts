import { randomUUID } from 'node:crypto';
import { AnswerLost, SessionBroker } from '@session-broker/client';

const { BROKER_URL = '', BROKER_TOKEN = '', GATEWAY_URL = '', NOTIFICATION_URL } = process.env;
const merchantRequestId = process.env['MERCHANT_REQUEST_ID'] || randomUUID();
const gateway = { url: GATEWAY_URL };
const broker = new SessionBroker({ url: BROKER_URL, merchant: 'shop', auth: BROKER_TOKEN, gateway });
const PAGE = '/ecom/execute_request/hpp/v1';

console.error(`sending the order ${merchantRequestId}`);
const { hppOrderId, redirectUrl } = await broker.fetch(`${PAGE}/create-order`, {
  json: {
    merchantRequestId,
    merchantId: process.env['MERCHANT_ID'],
    hppPayType: 'PURCHASE',
    coinAmount: 12500,
    paymentMethods: ['PAN'],
    successUrl: 'https://shop.example/thanks',
    failUrl: 'https://shop.example/sorry',
    statusPageType: 'STATUS_TIMER_PAGE',
    customerData: { senderCustomerId: 'customer-1' },
    notificationUrl: NOTIFICATION_URL,
    notificationEncryption: true,
  },
});
if (!hppOrderId) throw new AnswerLost('answer_unusable', 'No hppOrderId: nobody knows whether the bank has the order');
if (!redirectUrl) {
  throw new Error(
    `the bank HAS the order ${hppOrderId}, but names no redirectUrl to send the customer to: ask the bank`,
  );
}
console.log(`send the customer to ${redirectUrl}`);

const asked = broker.fetch(`${PAGE}/operations`, { json: { hppOrderId } });
const { orderStatus, operations } = await asked.catch((cause: unknown) => {
  const only = 'only the question what became of it failed: ask again, and do not send the order again';
  throw new Error(`the bank HAS the order ${hppOrderId}, and ${only}`, { cause });
});
console.log(
  `order ${hppOrderId} is ${orderStatus} with ${Array.isArray(operations) ? operations.length : 0} operations`,
);
await broker.close();
