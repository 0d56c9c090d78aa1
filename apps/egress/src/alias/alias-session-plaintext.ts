import { type Instant, plusMs, toRfc3339 } from '#libs/clock';
import type { PublicJwk } from '#libs/jwe';
import type { AliasCredentials } from './alias-credentials.js';

/** As long as the gateway's own (interface description, "How long a session lives"). */
const LIFETIME_MS = 86_400_000;
/** `2026-03-18T12:34:52` */
const SECOND_LENGTH = 19;

interface AliasSession extends AliasCredentials {
  readonly serverPublic: PublicJwk;
  readonly createdAt: Instant;
}

/**
 * The session in the gateway's full form, with the expiry under all three names, because one published client requires
 * all of them. The client's own clock decides when it expires; here the session outlives it.
 */
export function aliasSessionPlaintext({ createdAt, serverPublic, ...credentials }: AliasSession): Uint8Array {
  const { authToken, deviceId, refreshToken } = credentials;
  const { kty, crv, x, y } = serverPublic;
  const session = {
    authToken,
    deviceId,
    refreshToken,
    serverPublic: { kty, crv, x, y },
    ...momentsOf(plusMs(createdAt, LIFETIME_MS)),
  };
  return Buffer.from(JSON.stringify(session), 'utf8');
}

/**
 * The expiry in both formats of the interface description. It is a whole second: four digits after the point can be
 * read as a decimal fraction or as padded milliseconds, and zeros mean the same in either.
 */
function momentsOf(end: Instant): Readonly<Record<string, string>> {
  const text = toRfc3339(end).slice(0, SECOND_LENGTH).replace('T', ' ');
  return {
    tokenExpirationDateTime: `${text}.0000 +0000`,
    tokenExpiration: `${text}.000+00:00`,
    sessionExpiration: `${text}.000+00:00`,
  };
}
