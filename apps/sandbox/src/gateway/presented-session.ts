import type { MerchantBook } from '../merchants/merchant-book.js';
import type { Merchant } from '../merchants/merchant.js';
import type { PlayedSession, SessionBook } from '../sessions/session-book.js';
import { headerOf, type Caller, type GatewayRequest } from './operation.js';
import { GatewayRefusal } from './refusal.js';

export interface SessionParts {
  readonly sessions: SessionBook;
  readonly merchants: MerchantBook;
}

/** The session whose device the request names, whether or not it is still valid. */
export function namedSession({ sessions }: SessionParts, request: GatewayRequest): PlayedSession | undefined {
  return sessions.byDevice(headerOf(request, 'x-device_id') ?? '');
}

/** Whom a later request concerns, by the device that it presents. */
export function callerOf({ merchants }: SessionParts, session: PlayedSession | undefined): Caller {
  const merchant = merchants.byId(session?.merchant ?? '');
  return merchant === undefined ? {} : { merchant, serviceCode: merchant.serviceCode };
}

/** @throws GatewayRefusal when the merchant was removed */
export function merchantOf({ merchants }: SessionParts, session: PlayedSession): Merchant {
  const merchant = merchants.byId(session.merchant);
  if (merchant === undefined) throw new GatewayRefusal('b_merchant_not_found');
  return merchant;
}

/**
 * The session that a later request is presented with (interface description, section "Later requests").
 * @throws GatewayRefusal unless all its parts are there, belong together and are live
 */
export function demandSession(parts: SessionParts, request: GatewayRequest): PlayedSession {
  if (headerOf(request, 'x-device_id') === undefined) {
    throw new GatewayRefusal('b_request_is_not_correct', { msgText: 'The header x-device_id is missing' });
  }
  const session = namedSession(parts, request);
  if (session === undefined) throw new GatewayRefusal('b_unknown_device');
  demandTokens(request, session);
  const { msgCode } = parts.sessions.standing(session);
  if (msgCode !== undefined) throw new GatewayRefusal(msgCode);
  return session;
}

/**
 * A session with a refreshToken is presented with it in `x-refresh_token`, as published; one without, with its
 * authToken in `authorization: Bearer` or `x-auth_token`. Every token sent has to belong to the device, so that a
 * session put together from two is detected.
 */
function demandTokens(request: GatewayRequest, { authToken, refreshToken }: PlayedSession): void {
  const bearer = /^Bearer (.+)$/i.exec(headerOf(request, 'authorization') ?? '')?.[1];
  const authTokens = [bearer, headerOf(request, 'x-auth_token')].filter((token) => token !== undefined);
  const presented = headerOf(request, 'x-refresh_token') || undefined;
  if (refreshToken !== undefined && presented === undefined) throw new GatewayRefusal('b_refresh_token_absent');
  const isMissing = refreshToken === undefined && authTokens.length === 0;
  const isForeign = presented !== refreshToken && presented !== undefined;
  if (isMissing || isForeign || authTokens.some((token) => token !== authToken)) {
    throw new GatewayRefusal('b_unknown_device', { msgText: 'Token and device are not of one session' });
  }
}
