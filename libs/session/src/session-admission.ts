import { earliest, type Instant, msBetween, plusMs } from '#libs/clock';
import { GatewayFailure, PAST_EXPIRY } from './gateway-failure.js';
import { momentsOf } from './session-moments.js';
import type { IssuedSession, Session, SessionSettings } from './session.js';

/** Beyond this the gateway's clock, not ours, determines the expiry, and a person is warned. */
export const SKEW_TOLERANCE_MS = 2_000;

/** A `Date` header has whole seconds: the gateway's clock was somewhere within the second it names. */
const DATE_HEADER_RESOLUTION_MS = 1_000;

/**
 * How far the gateway's clock is ahead of ours (negative: behind), as far as one exchange can tell. The header was
 * written between sending and receiving, so the truth lies between `leastMs` and `mostMs`.
 */
export interface ClockSkew {
  readonly leastMs: number;
  readonly likelyMs: number;
  readonly mostMs: number;
}

/** When an exchange with the gateway began and ended by our clock, and what the gateway's clock said in it. */
type TimedExchange = Pick<IssuedSession, 'sentAt' | 'receivedAt' | 'gatewayDate'>;

/**
 * The exchange as it would have been timed if our wall clock had not been set while it ran: its end by the clock as it
 * stands now, its beginning as much earlier as the monotonic clock says.
 */
export function timedSteadily(issued: IssuedSession, tookMs: number): IssuedSession {
  return { ...issued, sentAt: plusMs(issued.receivedAt, -Math.ceil(tookMs)) };
}

/** @returns undefined when the answer had no usable `Date` header */
export function measureSkew(issued: TimedExchange): ClockSkew | undefined {
  if (issued.gatewayDate === undefined) return undefined;
  const leastMs = msBetween(issued.receivedAt, issued.gatewayDate);
  const mostMs = msBetween(issued.sentAt, issued.gatewayDate) + DATE_HEADER_RESOLUTION_MS;
  return { leastMs, likelyMs: (leastMs + mostMs) / 2, mostMs };
}

/** Whether the clocks are certainly further apart. */
export function exceedsTolerance({ leastMs, mostMs }: ClockSkew, toleranceMs = SKEW_TOLERANCE_MS): boolean {
  return leastMs > toleranceMs || mostMs < -toleranceMs;
}

/**
 * Translates a moment of the gateway's clock into ours, on the safe side: as if the gateway were as far ahead as it may
 * be. Within the tolerance this only ever shortens a lifetime; a gateway that is behind lengthens one only beyond it.
 */
export function toOurClock(gatewayMoment: Instant, skew: ClockSkew | undefined): Instant {
  if (skew === undefined) return gatewayMoment;
  if (exceedsTolerance(skew)) return plusMs(gatewayMoment, -skew.mostMs);
  return plusMs(gatewayMoment, -Math.max(0, skew.mostMs));
}

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
interface ImplausibleTime {
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
  if (skew !== undefined && exceedsTolerance(skew, largestClockSkewMs)) {
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
  if (skew === undefined || !exceedsTolerance(skew, settings.largestClockSkewMs)) return byGateway;
  // One of the clocks is wrong, and nobody can tell which: of the readings that leave the session any life at all, the
  // shorter one counts.
  const [first, ...others] = [expiresAt, byGateway].filter((moment) => moment > issued.receivedAt);
  return first === undefined ? byGateway : earliest(first, ...others);
}
