import { type Instant, msBetween, plusMs } from '#libs/clock';
import type { LeadTime, SessionSettings } from './session-settings.js';

const DEFAULT_RENEW_SHARE = 0.2;
const DEFAULT_RENEW_TIMEOUTS = 2;
const DEFAULT_MARGIN_SHARE = 0.05;
const MAX_DEFAULT_MARGIN_MS = 30_000;
const JITTER_SHARE = 0.1;
/** A lead time as long as the lifetime would renew for ever, so renewal never starts before half of it has passed. */
const MAX_LEAD_SHARE = 0.5;
/** Attempts that should fit between renewAt and mustRenewAt, and the pause that lies between them. */
const ATTEMPTS_TO_FIT = 2;
const PAUSE_BETWEEN_ATTEMPTS_MS = 1_000;

interface SessionMoments {
  readonly renewAt: Instant;
  readonly mustRenewAt: Instant;
}

/**
 * Derives when a session is renewed and when it stops being fresh, from its lifetime.
 * @param jitter drawn once per merchant and generation, in [0, 1): it only ever makes the renewal earlier
 */
export function momentsOf(
  life: { readonly createdAt: Instant; readonly expiresAt: Instant },
  settings: SessionSettings,
  jitter: number,
): SessionMoments {
  const lifetimeMs = msBetween(life.createdAt, life.expiresAt);
  const wantedLeadMs = renewLeadMs(settings, lifetimeMs) * (1 + JITTER_SHARE * jitter);
  const leadMs = Math.min(wantedLeadMs, MAX_LEAD_SHARE * lifetimeMs);
  const marginMs = Math.min(safetyMarginMs(settings, lifetimeMs), leadMs);
  return { renewAt: plusMs(life.expiresAt, -leadMs), mustRenewAt: plusMs(life.expiresAt, -marginMs) };
}

/** The numbers behind the warning that failed renewals may not be made up for in time. */
interface LeadTimeShortfall {
  readonly leadMs: number;
  readonly neededMs: number;
}

/** Holds the time between renewAt and mustRenewAt against attempts × timeout + back-off; undefined when it suffices. */
export function leadTimeShortfall(moments: SessionMoments, settings: SessionSettings): LeadTimeShortfall | undefined {
  const leadMs = msBetween(moments.renewAt, moments.mustRenewAt);
  const neededMs = ATTEMPTS_TO_FIT * settings.gatewayTimeoutMs + (ATTEMPTS_TO_FIT - 1) * PAUSE_BETWEEN_ATTEMPTS_MS;
  return leadMs < neededMs ? { leadMs, neededMs } : undefined;
}

function renewLeadMs(settings: SessionSettings, lifetimeMs: number): number {
  if (settings.renewBefore !== undefined) return leadTimeMs(settings.renewBefore, lifetimeMs);
  return Math.max(DEFAULT_RENEW_SHARE * lifetimeMs, DEFAULT_RENEW_TIMEOUTS * settings.gatewayTimeoutMs);
}

function safetyMarginMs(settings: SessionSettings, lifetimeMs: number): number {
  if (settings.safetyMargin !== undefined) return leadTimeMs(settings.safetyMargin, lifetimeMs);
  return Math.min(DEFAULT_MARGIN_SHARE * lifetimeMs, MAX_DEFAULT_MARGIN_MS);
}

function leadTimeMs(lead: LeadTime, lifetimeMs: number): number {
  return lead.kind === 'share' ? lead.share * lifetimeMs : lead.durationMs;
}
