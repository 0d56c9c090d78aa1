import { type Instant, msBetween, plusMs } from '#libs/clock';
import type { IssuedSession } from './session.js';

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

export function exceedsTolerance(skew: ClockSkew): boolean {
  return skew.leastMs > SKEW_TOLERANCE_MS || skew.mostMs < -SKEW_TOLERANCE_MS;
}

/** The clocks are certainly further apart than clocks ever are: one of them is wrong, and nobody can tell which. */
export function isImplausible(skew: ClockSkew, maxMs: number): boolean {
  return skew.leastMs > maxMs || skew.mostMs < -maxMs;
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
