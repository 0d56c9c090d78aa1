import { randomUUID } from 'node:crypto';
import { SessionBroker } from '@session-broker/client';

const { BROKER_URL = '', BROKER_TOKEN = '', GATEWAY_URL = '', NOTIFICATION_URL } = process.env;
const merchantRequestId = process.env['MERCHANT_REQUEST_ID'] || randomUUID();
const gateway = { url: GATEWAY_URL };
const broker = new SessionBroker({ url: BROKER_URL, merchant: 'shop', auth: BROKER_TOKEN, gateway });

console.error(`sending the refund ${merchantRequestId}`);
const { status, ecomOperationId } = await broker.fetch('/ecom/execute_request/payments/v3/refund', {
  sealed: {
    merchantRequestId,
    merchantId: process.env['MERCHANT_ID'],
    operationId: process.env['OPERATION_ID'],
    coinAmount: 100,
    date: new Date().toISOString().replace('T', ' ').replace('Z', '+00:00'),
    notificationUrl: NOTIFICATION_URL,
    notificationEncryption: true,
  },
});
console.log(`refund ${ecomOperationId} is ${status}`);
await broker.close();
