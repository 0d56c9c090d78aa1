import { BrokerError } from '#libs/errors';
import { readPublicKey, type KeyPair } from '../crypto/ec-key.js';
import type { Merchant } from '../merchants/merchant.js';
import { headerOf, memberOf, type GatewayRequest } from './operation.js';
import { GatewayRefusal } from './refusal.js';
import { openSealed } from './sealing.js';

const DEVICE_TYPE = 'ECOM_MERCHANT_SERVICE_DEVICE';

/**
 * Checks the attached session request data against the interface description (section "Create a technical session"), as
 * strictly as configured for the merchant.
 * @throws GatewayRefusal `b_invalid_request` or `b_encryptor_failed_decrypt_message`
 */
export function checkRequestData(request: GatewayRequest, merchant: Merchant, recipient: KeyPair): void {
  if (merchant.requestData === 'ignored') return;
  const name = merchant.requestDataName;
  const attached = memberOf(request.body, name) ?? headerOf(request, name);
  if (attached === undefined && merchant.requestData === 'checked') return;
  if (typeof attached !== 'string') throw invalid(`The session request data is missing from "${name}"`);
  const data = parse(openSealed(attached, recipient).toString('utf8'));
  if (memberOf(data, 'deviceType') !== DEVICE_TYPE) throw invalid(`deviceType must be ${DEVICE_TYPE}`);
  if (!isRegisteredKey(memberOf(data, 'clientPublicKey'), merchant)) {
    throw invalid('clientPublicKey must be the public key that is registered');
  }
}

function parse(plaintext: string): unknown {
  try {
    return JSON.parse(plaintext);
  } catch (error) {
    if (error instanceof SyntaxError) throw invalid('The session request data must be JSON');
    throw error;
  }
}

function isRegisteredKey(value: unknown, merchant: Merchant): boolean {
  try {
    return readPublicKey(value).key.equals(merchant.publicJwk.key);
  } catch (error) {
    if (error instanceof BrokerError) return false;
    throw error;
  }
}

function invalid(msgText: string): GatewayRefusal {
  return new GatewayRefusal('b_invalid_request', { msgText });
}
