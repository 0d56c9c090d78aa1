import { type Instant, plusMs } from '#libs/clock';
import { measureSkew, toOurClock } from './clock-skew.js';
import { GatewayFailure } from './gateway-failure.js';
import { momentsOf } from './session-moments.js';
import type { SessionSettings } from './session-settings.js';
import type { IssuedSession, Session } from './session.js';

export interface AdmissionFacts {
  readonly merchant: string;
  readonly generation: number;
  readonly settings: SessionSettings;
  readonly jitter: number;
}

/**
 * Turns what the gateway issued into a session, or refuses it. Nothing is replaced before this has passed.
 * Expiry: the gateway's moment translated to our clock; none given, the fallback lifetime from when the request was
 * sent (interface description, "Session").
 * @throws GatewayFailure `invalid_response` for a session that is past its expiry on arrival
 */
export function admit(issued: IssuedSession, facts: AdmissionFacts): Session {
  const expiresAt = expiryByOurClock(issued, facts.settings);
  if (expiresAt <= issued.receivedAt) {
    throw new GatewayFailure({
      kind: 'invalid_response',
      detail: 'the session was past its expiry on arrival; compare the clocks of broker and gateway',
      ...(issued.requestId === undefined ? {} : { requestId: issued.requestId }),
    });
  }
  const life = { createdAt: issued.receivedAt, expiresAt };
  return {
    merchant: facts.merchant,
    generation: facts.generation,
    authToken: issued.authToken,
    deviceId: issued.deviceId,
    ...(issued.refreshToken === undefined ? {} : { refreshToken: issued.refreshToken }),
    serverPublic: issued.serverPublic,
    clientKeyThumbprint: issued.clientKeyThumbprint,
    ...life,
    ...momentsOf(life, facts.settings, facts.jitter),
  };
}

function expiryByOurClock(issued: IssuedSession, settings: SessionSettings): Instant {
  if (issued.expiresAt === undefined) return plusMs(issued.sentAt, settings.fallbackLifetimeMs);
  return toOurClock(issued.expiresAt, measureSkew(issued));
}
