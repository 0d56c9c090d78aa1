import { credentialsOf, demandLive, refuseForeign } from '../gateway/credentials.js';
import { headerOf, type GatewayRequest } from '../gateway/operation.js';
import { GatewayRefusal } from '../gateway/refusal.js';
import type { MerchantBook } from '../merchants/merchant-book.js';
import type { PlayedSession } from '../sessions/session.js';
import type { SessionBook } from '../sessions/session-book.js';

interface SessionParts {
  readonly sessions: SessionBook;
  readonly merchants: MerchantBook;
}

/**
 * The session that a payment is presented with (interface description, section "Later requests").
 * @throws GatewayRefusal unless all its parts are there, belong together and are live
 */
export function demandSession({ sessions, merchants }: SessionParts, request: GatewayRequest): PlayedSession {
  const deviceId = headerOf(request, 'x-device_id');
  if (deviceId === undefined) {
    throw new GatewayRefusal('b_request_is_not_correct', { msgText: 'The header x-device_id is missing' });
  }
  const session = sessions.byDevice(deviceId);
  if (session === undefined) throw new GatewayRefusal('b_unknown_device');
  const merchant = merchants.byId(session.merchant);
  if (merchant === undefined) throw new GatewayRefusal('b_merchant_not_found');
  const credentials = credentialsOf(request, session);
  if (credentials === 'missing') {
    throw new GatewayRefusal(session.refreshToken === undefined ? 'b_unknown_device' : 'b_refresh_token_absent');
  }
  refuseForeign(credentials);
  const { supersededCode = 'b_session_doesnt_exist', deadSessionStatus } = merchant;
  demandLive(sessions, session, { supersededCode, deadSessionStatus });
  return session;
}
