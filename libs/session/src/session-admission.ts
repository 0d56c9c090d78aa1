import { earliest, type Instant, msBetween, plusMs } from '#libs/clock';
import { isImplausible, measureSkew, SKEW_TOLERANCE_MS, toOurClock } from './clock-skew.js';
import { PAST_EXPIRY } from './failure-trace.js';
import { GatewayFailure } from './gateway-failure.js';
import { momentsOf } from './session-moments.js';
import type { SessionSettings } from './session-settings.js';
import type { IssuedSession, Session } from './session.js';

/** What a session says about those before it. */
export type SessionsBefore = Pick<Session, 'deathsBefore'>;

interface AdmissionFacts {
  readonly merchant: string;
  readonly generation: number;
  readonly settings: SessionSettings;
  readonly jitter: number;
  readonly before?: SessionsBefore;
}

/** A time in an answer that was not believed. `lifetime`: the end of the session; `skew`: the gateway's clock. */
export interface ImplausibleTime {
  readonly kind: 'lifetime' | 'skew';
  /** The lifetime that the answer states, or how far the gateway's clock seems to be ahead of ours. */
  readonly statedMs: number;
  /** The setting it exceeds. */
  readonly mostMs: number;
}

/**
 * Turns what the gateway issued into a session, or refuses it. Nothing is replaced before this has passed. Expiry is
 * the gateway's moment translated to our clock or, if it gives none, the fallback lifetime from when the request was
 * sent (interface description, "Session"). It is never later than the longest lifetime that is believed.
 * @throws GatewayFailure `invalid_response` for a session that has expired on arrival
 */
export function admit(issued: IssuedSession, facts: AdmissionFacts): Session {
  const expiresAt = expiryByOurClock(issued, facts.settings);
  if (expiresAt <= issued.receivedAt) {
    throw new GatewayFailure({
      kind: 'invalid_response',
      mark: PAST_EXPIRY,
      lostSession: true,
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
    ...facts.before,
    ...life,
    ...momentsOf(life, facts.settings, facts),
  };
}

/** What a person should hear about an answer that was used all the same; empty if its times are as they should be. */
export function implausibleTimes(issued: IssuedSession, settings: SessionSettings): readonly ImplausibleTime[] {
  const { largestClockSkewMs, longestLifetimeMs } = settings;
  const found: ImplausibleTime[] = [];
  const skew = measureSkew(issued);
  if (skew !== undefined && isImplausible(skew, largestClockSkewMs)) {
    found.push({ kind: 'skew', statedMs: skew.likelyMs, mostMs: largestClockSkewMs });
  }
  const statedMs = msBetween(issued.receivedAt, statedExpiry(issued, settings));
  if (statedMs > longestLifetimeMs + SKEW_TOLERANCE_MS)
    found.push({ kind: 'lifetime', statedMs, mostMs: longestLifetimeMs });
  return found;
}

function expiryByOurClock(issued: IssuedSession, settings: SessionSettings): Instant {
  return earliest(statedExpiry(issued, settings), plusMs(issued.sentAt, settings.longestLifetimeMs));
}

function statedExpiry({ expiresAt, ...issued }: IssuedSession, settings: SessionSettings): Instant {
  if (expiresAt === undefined) return plusMs(issued.sentAt, settings.fallbackLifetimeMs);
  const skew = measureSkew(issued);
  const byGateway = toOurClock(expiresAt, skew);
  if (skew === undefined || !isImplausible(skew, settings.largestClockSkewMs)) return byGateway;
  // One of the clocks is wrong: of the readings that leave the session any life at all, the shorter one counts.
  const [first, ...others] = [expiresAt, byGateway].filter((moment) => moment > issued.receivedAt);
  return first === undefined ? byGateway : earliest(first, ...others);
}
