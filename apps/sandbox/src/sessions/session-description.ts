import { createHash } from 'node:crypto';
import { toRfc3339 } from '#libs/clock';
import { thumbprint } from '../crypto/ec-key.js';
import type { PlayedSession, Standing } from './session.js';

/** A session as control requests see it: fingerprints in place of everything secret. */
export interface SessionDescription {
  readonly id: number;
  readonly merchant: string;
  readonly state: Standing['state'];
  readonly msgCode?: string;
  readonly createdAt: string;
  readonly expiresAt: string;
  /** SHA-256 of the text, hex. */
  readonly authTokenSha256: string;
  readonly deviceIdSha256: string;
  readonly refreshTokenSha256?: string;
  /** RFC 7638. */
  readonly serverKeyThumbprint: string;
}

export function describeSession(session: PlayedSession, standing: Standing): SessionDescription {
  return {
    id: session.id,
    merchant: session.merchant,
    ...standing,
    createdAt: toRfc3339(session.createdAt),
    expiresAt: toRfc3339(session.expiresAt),
    authTokenSha256: sha256(session.authToken),
    deviceIdSha256: sha256(session.deviceId),
    ...(session.refreshToken === undefined ? {} : { refreshTokenSha256: sha256(session.refreshToken) }),
    serverKeyThumbprint: thumbprint(session.serverKey.jwk),
  };
}

function sha256(value: string): string {
  return createHash('sha256').update(value).digest('hex');
}
