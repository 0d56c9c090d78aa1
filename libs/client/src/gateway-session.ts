import type { ServerPublicKey, Session } from './session.js';

/** A session as the gateway itself writes it, which is what merchant SDKs take. */
export interface GatewaySession {
  readonly authToken: string;
  readonly refreshToken?: string;
  readonly deviceId: string;
  readonly serverPublic: ServerPublicKey;
  /** `YYYY-MM-DD HH:MM:SS.ffff +0000` */
  readonly tokenExpirationDateTime: string;
}

/** The session in the gateway's own form, for a merchant SDK that would otherwise create one for itself. */
export function toGatewaySession(session: Session): GatewaySession {
  const { authToken, refreshToken, deviceId, serverPublic, expiresAt } = session;
  return {
    authToken,
    ...(refreshToken === undefined ? {} : { refreshToken }),
    deviceId,
    serverPublic,
    tokenExpirationDateTime: gatewayDateTime(expiresAt),
  };
}

/**
 * Milliseconds are written in four digits with a zero before them, as the gateway has been seen to do. A reader that
 * takes them for a decimal fraction ends the session less than a second early; with the zero behind them, one that
 * takes them for milliseconds would end it late.
 */
function gatewayDateTime(rfc3339: string): string {
  const [date, time] = new Date(rfc3339).toISOString().slice(0, -1).split('T') as [string, string];
  const [seconds, milliseconds] = time.split('.') as [string, string];
  return `${date} ${seconds}.0${milliseconds} +0000`;
}
