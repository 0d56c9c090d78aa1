import { BrokerError } from '#libs/errors';
import { openCompact } from '../crypto/compact-jwe.js';
import type { KeyPair } from '../crypto/ec-key.js';
import type { MerchantBook } from '../merchants/merchant-book.js';
import type { PlayedSession } from '../sessions/session.js';
import type { SessionBook } from '../sessions/session-book.js';
import { jsonAnswer } from '../wire/answer.js';
import { demandApiVersion, headerOf, type Caller, type GatewayOperation, type GatewayRequest } from './operation.js';
import { GatewayRefusal } from './refusal.js';
import { sealFor } from './sealing.js';

interface EchoParts {
  readonly merchants: MerchantBook;
  readonly sessions: SessionBook;
}

/**
 * Stands for every later request of a consumer: takes a payload that is encrypted to the session's server key, and
 * gives the same octets back, encrypted to the client's key. The interface description leaves open how a session is
 * presented; see `demandCredentials` for what is played.
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
      const { msgCode } = sessions.standing(session);
      if (msgCode !== undefined) throw new GatewayRefusal(msgCode);
      const plaintext = open(request.body, session.serverKey);
      return jsonAnswer({ jwe: sealFor(merchant.publicJwk, plaintext, trouble) });
    },
  };
}

/**
 * A session that has a refreshToken is presented with it in `x-refresh_token`, as observed clients do; one that has
 * none, with its authToken in `authorization: Bearer` or `x-auth_token`. Every credential that is sent has to belong
 * to the device, so that a session whose parts come from two is found out.
 */
function demandCredentials(request: GatewayRequest, session: PlayedSession): void {
  const bearer = /^Bearer (.+)$/i.exec(headerOf(request, 'authorization') ?? '')?.[1];
  const authTokens = [bearer, headerOf(request, 'x-auth_token')].filter((token) => token !== undefined);
  const refreshToken = headerOf(request, 'x-refresh_token');
  const isPresented = session.refreshToken === undefined ? authTokens.length > 0 : refreshToken !== undefined;
  const isItsOwn =
    authTokens.every((token) => token === session.authToken) &&
    (refreshToken === undefined || refreshToken === session.refreshToken);
  if (!isPresented) throw new GatewayRefusal('b_unknown_device', { msgText: 'The token of the session is missing' });
  if (!isItsOwn) throw new GatewayRefusal('b_unknown_device', { msgText: 'Token and device are not of one session' });
}

function open(body: unknown, own: KeyPair): Buffer {
  if (typeof body !== 'string') {
    throw new GatewayRefusal('b_invalid_request', { msgText: 'The body must be a compact JWE as text/plain' });
  }
  try {
    return openCompact(body.trim(), own);
  } catch (error) {
    if (error instanceof BrokerError) throw new GatewayRefusal('b_encryptor_failed_decrypt_message');
    throw error;
  }
}
