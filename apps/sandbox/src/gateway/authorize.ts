import type { KeyPair } from '../crypto/ec-key.js';
import type { MerchantBook } from '../merchants/merchant-book.js';
import { isServiceCode } from '../merchants/merchant.js';
import type { SessionBook } from '../sessions/session-book.js';
import type { Settings } from '../settings.js';
import { jsonAnswer } from '../wire/answer.js';
import { demandApiVersion, memberOf, type Caller, type GatewayOperation, type GatewayRequest } from './operation.js';
import { checkRequestData } from './request-data.js';
import { GatewayRefusal } from './refusal.js';
import { sealFor } from './sealing.js';
import { sessionPlaintext } from './session-plaintext.js';

export interface AuthorizeParts {
  readonly merchants: MerchantBook;
  readonly sessions: SessionBook;
  readonly settings: Settings;
  /** The key that session request data is encrypted to. */
  readonly recipient: KeyPair;
}

/** Creates a session (interface description, section "Create a technical session"). */
export function authorizeOperation({ merchants, sessions, settings, recipient }: AuthorizeParts): GatewayOperation {
  const identify = ({ body }: GatewayRequest): Caller => {
    const code = memberOf(body, 'serviceCode');
    if (typeof code !== 'string' || !isServiceCode(code)) return {};
    const merchant = merchants.byServiceCode(code);
    return merchant === undefined ? { serviceCode: code } : { serviceCode: code, merchant };
  };
  return {
    name: 'authorize',
    path: '/api-gateway/authorize_virtual_device',
    identify,
    carryOut(request, { record, trouble, skewMs }) {
      // Two published plug-ins send no version here.
      demandApiVersion(request, '1');
      const caller = identify(request);
      if (caller.serviceCode === undefined) {
        throw new GatewayRefusal('b_invalid_request', { msgText: 'serviceCode must be a UUID' });
      }
      const { merchant } = caller;
      if (merchant === undefined) throw new GatewayRefusal('b_merchant_not_found');
      checkRequestData(request, merchant, recipient);
      const session = sessions.create(merchant, merchant.lifetimeMs ?? settings.lifetimeMs);
      record.session = session.id;
      const plaintext = sessionPlaintext({ session, merchant, skewMs, trouble });
      return jsonAnswer({ jwe: sealFor(merchant.publicJwk, plaintext, trouble) });
    },
  };
}
