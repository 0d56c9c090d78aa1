import { BrokerError } from '#libs/errors';
import { openCompact } from '../crypto/compact-jwe.js';
import { readPrivateKey, readPublicKey } from '../crypto/ec-key.js';
import { textAnswer } from '../wire/answer.js';
import { memberOf, type GatewayOperation, type GatewayRequest } from './operation.js';
import { GatewayRefusal } from './refusal.js';
import { sealFor } from './sealing.js';

/** Decrypts `message` with the private key in the body (interface description, section "Test-only helper requests"). */
export const decryptHelper: GatewayOperation = {
  name: 'decrypt',
  path: '/cipher/decrypt_by_jwk',
  identify: () => ({}),
  carryOut: (request) =>
    textAnswer(refusing(() => openCompact(messageOf(request), readPrivateKey(request.body)).toString('utf8'))),
};

/** Encrypts `message` to the public key in the body; the compact JWE is the whole answer, as plain text. */
export const encryptHelper: GatewayOperation = {
  name: 'encrypt',
  path: '/cipher/encrypt_by_jwk',
  identify: () => ({}),
  carryOut: (request, { trouble }) =>
    textAnswer(refusing(() => sealFor(readPublicKey(request.body), messageOf(request), trouble))),
};

function messageOf({ query }: GatewayRequest): string {
  const message = memberOf(query, 'message');
  if (typeof message !== 'string') {
    throw new GatewayRefusal('b_invalid_request', { status: 400, msgText: 'The query must have one message' });
  }
  return message;
}

/** A helper's answer is text in any case, so the status also has to show what went wrong. */
function refusing(work: () => string): string {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error;
    const msgCode = error.code === 'jwk_invalid' ? 'b_invalid_request' : 'b_encryptor_failed_decrypt_message';
    throw new GatewayRefusal(msgCode, { status: 400, msgText: error.publicDetail ?? error.entry.title });
  }
}
