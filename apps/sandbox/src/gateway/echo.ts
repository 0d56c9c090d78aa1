import type { MerchantBook } from '../merchants/merchant-book.js';
import type { PlayedSession } from '../sessions/session.js';
import type { SessionBook } from '../sessions/session-book.js';
import { jsonAnswer } from '../wire/answer.js';
import { credentialsOf, demandLive, refuseForeign } from './credentials.js';
import { demandApiVersion, headerOf, type Caller, type GatewayOperation, type GatewayRequest } from './operation.js';
import { GatewayRefusal } from './refusal.js';
import { openSealed, sealFor } from './sealing.js';

interface EchoParts {
  readonly merchants: MerchantBook;
  readonly sessions: SessionBook;
}

/**
 * Stands for all later requests of a consumer: takes a payload encrypted to the session's server key, and returns the
 * same octets encrypted to the client's key. The interface description leaves open how a session is presented; see
 * `credentialsOf` for what is played.
 */
export function echoOperation({ merchants, sessions }: EchoParts): GatewayOperation {
  const sessionOf = (request: GatewayRequest): PlayedSession | undefined =>
    sessions.byDevice(headerOf(request, 'x-device_id') ?? '');
  const callerOf = (session: PlayedSession | undefined): Caller => {
    const merchant = session === undefined ? undefined : merchants.byId(session.merchant);
    return merchant === undefined ? {} : { merchant, serviceCode: merchant.serviceCode };
  };
  return {
    name: 'echo',
    path: '/api-gateway/echo',
    identify: (request) => callerOf(sessionOf(request)),
    carryOut(request, { record, trouble }) {
      demandApiVersion(request);
      const session = sessionOf(request);
      const { merchant } = callerOf(session);
      if (session === undefined || merchant === undefined) throw new GatewayRefusal('b_unknown_device');
      record.session = session.id;
      demandCredentials(request, session);
      demandLive(sessions, session, merchant);
      const plaintext = openSealed(request.body, session.serverKey);
      return jsonAnswer({ jwe: sealFor(merchant.publicJwk, plaintext, trouble) });
    },
  };
}

function demandCredentials(request: GatewayRequest, session: PlayedSession): void {
  const credentials = credentialsOf(request, session);
  if (credentials === 'missing') {
    throw new GatewayRefusal('b_unknown_device', { msgText: 'The token of the session is missing' });
  }
  refuseForeign(credentials);
}
