import { plusMs } from '#libs/clock';
import { encodeBase64url, generateKeyPair, type PublicJwk } from '../crypto/ec-key.js';
import type { Trouble } from '../faults/fault.js';
import type { Merchant } from '../merchants/merchant.js';
import type { PlayedSession } from '../sessions/session-book.js';
import { expiryMembers } from './expiry-format.js';

interface SessionWriting {
  readonly session: PlayedSession;
  readonly merchant: Merchant;
  /** How far the clock that the gateway shows is ahead of the true one. */
  readonly skewMs: number;
  readonly trouble: Trouble | undefined;
}

/** The session in the merchant's form (interface description, section "Session"), spoiled as the fault demands. */
export function sessionPlaintext(writing: SessionWriting): string {
  const { session, merchant, trouble } = writing;
  const members: Record<string, unknown> = {
    authToken: session.authToken,
    ...(session.refreshToken === undefined ? {} : { refreshToken: session.refreshToken }),
    deviceId: session.deviceId,
    ...serverKeyMembers(writing),
    ...expiryMembers(plusMs(session.expiresAt, writing.skewMs), {
      format: merchant.expiryFormat,
      utcOffsetMinutes: merchant.utcOffsetMinutes,
    }),
  };
  if (trouble?.kind === 'unparseable_expiry') return JSON.stringify(withExpiry(members, trouble.text));
  if (trouble?.kind === 'missing_fields') for (const name of trouble.fields) delete members[name];
  return JSON.stringify(members);
}

function serverKeyMembers({ session, merchant, trouble }: SessionWriting): Readonly<Record<string, PublicJwk>> {
  if (trouble?.kind === 'two_server_keys') {
    return { serverPublic: session.serverKey.jwk, serverPublicKey: generateKeyPair().jwk };
  }
  const jwk = trouble?.kind === 'off_curve_server_key' ? offCurve(session.serverKey.jwk) : session.serverKey.jwk;
  return merchant.form === 'full' ? { serverPublic: jwk } : { serverPublicKey: jwk };
}

/** In every member that gives the expiry; in the documented one if the merchant's form gives none. */
function withExpiry(members: Readonly<Record<string, unknown>>, text: string): Record<string, unknown> {
  const names = ['tokenExpirationDateTime', 'tokenExpiration', 'sessionExpiration'].filter((name) => name in members);
  const given = names.length > 0 ? names : ['tokenExpirationDateTime'];
  return { ...members, ...Object.fromEntries(given.map((name) => [name, text])) };
}

/** The only other point of the curve with the same x is the mirrored one, whose y differs in more than its last bit. */
function offCurve(jwk: PublicJwk): PublicJwk {
  const y = Buffer.from(jwk.y, 'base64url');
  y[y.length - 1] = (y.at(-1) ?? 0) ^ 1;
  return { ...jwk, y: encodeBase64url(y) };
}
