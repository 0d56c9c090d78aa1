// sdk-refund.ts
import { randomUUID } from 'node:crypto';
import { SessionBroker } from '@session-broker/client';
import { withSdk } from './brokered-sdk.ts';
import { MerchantSdk } from './merchant-sdk.ts';

const { BROKER_URL = '', BROKER_TOKEN = '', GATEWAY_URL = '', MERCHANT_ID = '', OPERATION_ID = '' } = process.env;
const NOTHING_SENT = 'nothing was sent to the bank, and it may be sent again with the same MERCHANT_REQUEST_ID';

async function refund(broker: SessionBroker): Promise<void> {
  if (MERCHANT_ID.trim() === '') throw new Error("set MERCHANT_ID: the terminal's id at the bank");
  if (OPERATION_ID.trim() === '')
    throw new Error('set OPERATION_ID: the operationId of the purchase of which something is given back');
  const headers = { authorization: `Bearer ${BROKER_TOKEN}` };
  const keyUrl = `${BROKER_URL.replace(/\/+$/, '')}/v1/merchants/shop/client-key`;
  const signal = AbortSignal.timeout(10_000);
  // A redirect comes back as such, and is not followed: the token is for one host.
  const clientKey = await fetch(keyUrl, { headers, redirect: 'manual', signal }).catch((cause: unknown) => {
    const why = `no broker answers at BROKER_URL (${BROKER_URL})`;
    throw new Error(`no client key: ${why}; ${NOTHING_SENT}`, { cause });
  });
  const said = (await clientKey.json().catch(() => ({}))) as { jwk?: { kty: string } } | null;
  const authenticationKey = said?.jwk;
  if (authenticationKey === undefined) {
    const why = `no client key: ${clientKey.status} ${JSON.stringify(said)}`;
    throw new Error(`${why}; are BROKER_URL and BROKER_TOKEN right? ${NOTHING_SENT}`);
  }
  const newSdk = (): MerchantSdk =>
    new MerchantSdk({ baseUrl: GATEWAY_URL, merchantId: MERCHANT_ID, authenticationKey });

  // Made once, outside: the same refund is sent again after a dead session, never a second one.
  const order = {
    merchantRequestId: process.env['MERCHANT_REQUEST_ID']?.trim() || randomUUID(),
    operationId: OPERATION_ID,
    coinAmount: 100,
    date: new Date().toISOString().replace('T', ' ').replace('Z', '+00:00'),
  };
  // Before it is sent, so that it is known after whatever happens; keep yours in your database.
  console.error(`sending the refund ${order.merchantRequestId}`);
  const { status, ecomOperationId } = await withSdk(broker, newSdk, (sdk) => sdk.createRefund(order));
  console.log(`refund ${String(ecomOperationId)} is ${String(status)}`);
}

const broker = new SessionBroker({ url: BROKER_URL, merchant: 'shop', auth: BROKER_TOKEN });
void refund(broker).finally(() => broker.close());
