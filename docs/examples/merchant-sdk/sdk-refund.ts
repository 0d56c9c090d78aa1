// sdk-refund.ts
import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { AnswerLost, SessionBroker, SessionBrokerError } from '@session-broker/client';
import { SdkNotCalled, withSdk } from './brokered-sdk.ts';
import { MerchantSdk } from './merchant-sdk.ts';

function setting(name: string, what: string, form = /\S/): string {
  const value = process.env[name]?.trim() ?? '';
  if (!form.test(value)) throw new Error(`set ${name}: ${what}`);
  return value;
}
function address(name: string): string {
  const url = setting(name, 'it begins with http:// or https://', /^https?:\/\/[^\s/]\S*$/).replace(/\/+$/, '');
  if (URL.canParse(url)) return url;
  throw new Error(`set ${name}: no URL has such a host or such a port; a port is 65535 at most`);
}
const BROKER_URL = address('BROKER_URL');
if (/\/v1(?:\/merchants(?:\/.*)?)?$/.test(BROKER_URL)) {
  throw new Error('set BROKER_URL: it ends before /v1, which is added here; nothing was sent to the bank');
}
const GATEWAY_URL = address('GATEWAY_URL');
const TOKEN = 'the token by which the broker knows the caller, with no space and no line break in it';
const BROKER_TOKEN = setting('BROKER_TOKEN', TOKEN, /^\S+$/);
const MERCHANT_ID = setting('MERCHANT_ID', "the terminal's id at the bank");
const OPERATION_ID = setting('OPERATION_ID', 'the operationId of the purchase of which something is given back');
const NOTHING_SENT = 'nothing was sent to the bank, and it may be sent again with the same MERCHANT_REQUEST_ID';

/** The status of the gateway's answer: the `[500]` in the SDK's message is the SDK's own, whatever goes wrong. */
function statusIn(error: unknown): number | undefined {
  const { status, originalError } = (error ?? {}) as { status?: unknown; originalError?: unknown };
  if (typeof status === 'number') return status;
  return originalError === undefined ? undefined : statusIn(originalError);
}

/** For a connection that fails because only one side uses TLS; after an answer, that is not the reason. */
function schemeHint(url: string, error: unknown, who = 'it'): string {
  const why = inspect(error, { depth: 9 });
  if (url.startsWith('https:'))
    return /WRONG_VERSION|before secure TLS/.test(why) ? `; does ${who} begin with http://?` : '';
  const isCutOff = /'(?:ECONNRESET|EPIPE|UND_ERR_SOCKET|\\x15\\x03.*)'/.test(why) && !/bytesRead: [1-9]/.test(why);
  return isCutOff && statusIn(error) === undefined ? `; does ${who} begin with https://?` : '';
}

/** What the bank's refusal means, which the SDK throws as its own error; every other error explains itself. */
function explain(error: unknown, merchantRequestId: string): never {
  if (error instanceof AnswerLost) {
    const hint = schemeHint(GATEWAY_URL, error.cause, 'GATEWAY_URL');
    throw new AnswerLost(error.code, `${error.message}; it is ${merchantRequestId}${hint}`, { cause: error.cause });
  }
  if (error instanceof SessionBrokerError || error instanceof SdkNotCalled) throw error;
  const has = String(error).includes('b_duplicate_field_value')
    ? `the bank has a request with this id already; keep ${merchantRequestId}: the notification or the bank tells its status, never send it under a new merchantRequestId`
    : 'it was refused, while one that was sent before with the same id may be there';
  const status = statusIn(error);
  const where = status === 404 ? ' (is GATEWAY_URL right?)' : '';
  const says = `the gateway says to the refund, under ${String(status)}${where}, in the words of the SDK: ${String(error)}`;
  throw new Error(`${says}: ${has}`, { cause: error });
}

async function refund(broker: SessionBroker): Promise<void> {
  const headers = { authorization: `Bearer ${BROKER_TOKEN}` };
  const keyUrl = `${BROKER_URL}/v1/merchants/shop/client-key`;
  const signal = AbortSignal.timeout(10_000);
  // A redirect is returned, not followed: the token is for one host.
  const clientKey = await fetch(keyUrl, { headers, redirect: 'manual', signal }).catch((cause: unknown) => {
    const why = `no broker answers at BROKER_URL (${BROKER_URL})${schemeHint(BROKER_URL, cause)}`;
    throw new Error(`no client key: ${why}; ${NOTHING_SENT}`, { cause });
  });
  const said = (await clientKey.json().catch(() => ({}))) as { jwk?: { kty: string }; code?: string } | null;
  const authenticationKey = said?.jwk;
  if (authenticationKey === undefined) {
    const isOfSettings = said?.code === undefined || clientKey.status < 500;
    const settings =
      ' are BROKER_URL and BROKER_TOKEN right? Is the merchant called shop there, and this caller allowed to use it?';
    const why = `${clientKey.status} ${JSON.stringify(said)};${isOfSettings ? settings : ''}`;
    throw new Error(`no client key: ${why} ${NOTHING_SENT}`);
  }
  const newSdk = (): MerchantSdk =>
    new MerchantSdk({ baseUrl: GATEWAY_URL, merchantId: MERCHANT_ID, authenticationKey });

  // Made once, outside: after a dead session the same refund is sent again, never a second one.
  const order = {
    merchantRequestId: process.env['MERCHANT_REQUEST_ID']?.trim() || randomUUID(),
    operationId: OPERATION_ID,
    coinAmount: 100,
    date: new Date().toISOString().replace('T', ' ').replace('Z', '+00:00'),
  };
  // Before it is sent, so that it is known whatever happens; keep yours in your database.
  console.error(`sending the refund ${order.merchantRequestId}`);
  const { status, ecomOperationId } = await withSdk(broker, newSdk, (sdk) => sdk.createRefund(order)).catch(
    (error: unknown) => explain(error, order.merchantRequestId),
  );
  console.log(`refund ${String(ecomOperationId)} is ${String(status)}`);
}

const broker = new SessionBroker({ url: BROKER_URL, merchant: 'shop', auth: BROKER_TOKEN });
void refund(broker).finally(() => broker.close());
