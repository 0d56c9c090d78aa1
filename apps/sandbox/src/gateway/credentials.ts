import type { Merchant } from '../merchants/merchant.js';
import type { SessionBook } from '../sessions/session-book.js';
import type { PlayedSession } from '../sessions/session.js';
import { headerOf, type GatewayRequest } from './operation.js';
import { GatewayRefusal } from './refusal.js';

export type Credentials = 'missing' | 'foreign' | 'own';

/**
 * A session with a refreshToken is presented with it in `x-refresh_token`, as observed clients do; one without, with
 * its authToken in `authorization: Bearer` or `x-auth_token`. Every credential sent has to belong to the device, so
 * that a session put together from two is detected.
 */
export function credentialsOf(request: GatewayRequest, session: PlayedSession): Credentials {
  const bearer = /^Bearer (.+)$/i.exec(headerOf(request, 'authorization') ?? '')?.[1];
  const authTokens = [bearer, headerOf(request, 'x-auth_token')].filter((token) => token !== undefined);
  const refreshToken = headerOf(request, 'x-refresh_token') || undefined;
  const isPresented = session.refreshToken === undefined ? authTokens.length > 0 : refreshToken !== undefined;
  const isItsOwn =
    authTokens.every((token) => token === session.authToken) &&
    (refreshToken === undefined || refreshToken === session.refreshToken);
  if (!isPresented) return 'missing';
  return isItsOwn ? 'own' : 'foreign';
}

/** @throws GatewayRefusal `b_unknown_device` for parts that come from two sessions */
export function refuseForeign(credentials: Credentials): void {
  if (credentials !== 'foreign') return;
  throw new GatewayRefusal('b_unknown_device', { msgText: 'Token and device are not of one session' });
}

/** How users of a merchant's session learn that it is dead. */
type DeathNotice = Pick<Merchant, 'supersededCode' | 'deadSessionStatus'>;

/** @throws GatewayRefusal that says what ended the session, with the merchant's own code and status if it has any */
export function demandLive(sessions: SessionBook, session: PlayedSession, notice: DeathNotice): void {
  const { state, msgCode } = sessions.standing(session);
  if (msgCode === undefined) return;
  const told = state === 'superseded' ? (notice.supersededCode ?? msgCode) : msgCode;
  const status = notice.deadSessionStatus;
  throw new GatewayRefusal(told, status === undefined ? {} : { status });
}
