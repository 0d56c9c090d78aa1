import type { ServerPublicKey, Session } from './session.js';

/** A session in the gateway's own form, which is what merchant SDKs accept. */
export interface GatewaySession {
  readonly authToken: string;
  readonly refreshToken?: string;
  readonly deviceId: string;
  readonly serverPublic: ServerPublicKey;
  /** `YYYY-MM-DD HH:MM:SS.ffff +0000` */
  readonly tokenExpirationDateTime: string;
  /** The same moment as `YYYY-MM-DD HH:MM:SS.fff+00:00`. */
  readonly tokenExpiration: string;
  /** The same again: some SDKs require all three. */
  readonly sessionExpiration: string;
}

/** Converts a session to the gateway's own form, for a merchant SDK that would otherwise create one itself. */
export function toGatewaySession(session: Session): GatewaySession {
  const { authToken, refreshToken, deviceId, serverPublic, expiresAt } = session;
  const utc = new Date(expiresAt).toISOString();
  const [seconds, milliseconds] = [utc.slice(0, 19).replace('T', ' '), utc.slice(20, 23)];
  const expiration = `${seconds}.${milliseconds}+00:00`;
  return {
    authToken,
    ...(refreshToken === undefined ? {} : { refreshToken }),
    deviceId,
    serverPublic,
    // Milliseconds are written as four digits with a leading zero, as the gateway has been seen to do. A reader that
    // takes them as a decimal fraction ends the session less than a second early; with a trailing zero instead, a
    // reader that takes them as milliseconds would end it late.
    tokenExpirationDateTime: `${seconds}.0${milliseconds} +0000`,
    tokenExpiration: expiration,
    sessionExpiration: expiration,
  };
}
