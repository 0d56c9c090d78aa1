import { earliest, type Instant, instantFromEpochMs, msBetween, plusMs } from '#libs/clock';
import { placeOf } from './merchant-place.js';
import { quietMoment } from './quiet-moment.js';
import type { LeadTime, SessionSettings } from './session-settings.js';

/**
 * Shares of a session's lifetime that are left at a renewal: by default, and at most. A lead time as long as the
 * lifetime would renew for ever, so renewal never starts before half of it has passed.
 */
export const leadShares = { default: 0.2, longest: 0.5 } as const;
const DEFAULT_RENEW_TIMEOUTS = 2;
/**
 * There is a day between two nights: for a session that lives one day, each minute of lead is a minute by which it
 * misses the next.
 */
const MAX_DEFAULT_LEAD_TO_QUIET_MS = 300_000;
const DEFAULT_MARGIN_SHARE = 0.05;
const MAX_DEFAULT_MARGIN_MS = 30_000;
const JITTER_SHARE = 0.1;
/** Attempts that should fit between renewAt and mustRenewAt, and the pause between them. */
const ATTEMPTS_TO_FIT = 2;
const PAUSE_BETWEEN_ATTEMPTS_MS = 1_000;

interface SessionMoments {
  readonly renewAt: Instant;
  readonly mustRenewAt: Instant;
}

interface SessionLife {
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
}

interface MerchantChance {
  readonly merchant: string;
  /** Drawn once per merchant and generation, in [0, 1): it only ever makes the renewal earlier. */
  readonly jitter: number;
}

/**
 * Derives from its lifetime when a session is renewed and when it stops being fresh. Quiet hours choose among the
 * moments that safety allows: they never make the renewal later.
 */
export function momentsOf(life: SessionLife, settings: SessionSettings, chance: MerchantChance): SessionMoments {
  const { latestAt, mustRenewAt } = limitsOf(life, settings, spreadOf(settings, chance));
  const { quietHours } = settings;
  if (quietHours === undefined) return { renewAt: latestAt, mustRenewAt };
  const quietLife = { createdAt: life.createdAt, latestAt, place: placeOf(chance.merchant) };
  return { renewAt: quietMoment(quietLife, quietHours) ?? latestAt, mustRenewAt };
}

/**
 * With quiet hours a merchant's share of the jitter stays the same, like its moment in them: its sessions live equally
 * long.
 */
function spreadOf({ quietHours }: SessionSettings, { merchant, jitter }: MerchantChance): number {
  return JITTER_SHARE * (quietHours === undefined ? jitter : placeOf(merchant));
}

function limitsOf(
  { createdAt, expiresAt }: SessionLife,
  settings: SessionSettings,
  spread: number,
): { readonly latestAt: Instant; readonly mustRenewAt: Instant } {
  const lifetimeMs = msBetween(createdAt, expiresAt);
  const plainLeadMs = renewLeadMs(settings, lifetimeMs);
  const leadMs = Math.min(plainLeadMs * (1 + spread), leadShares.longest * lifetimeMs);
  const marginMs = Math.min(safetyMarginMs(settings, lifetimeMs), leadMs);
  const bySafety = plusMs(expiresAt, -leadMs);
  const { renewEveryMs } = settings;
  // Held to the same hour every day, sessions would drift through it if their age were spread as well.
  const spreadMs = settings.quietHours === undefined ? spread * plainLeadMs : 0;
  const latestAt =
    renewEveryMs === undefined
      ? bySafety
      : earliest(bySafety, plusMs(createdAt, Math.max(renewEveryMs - spreadMs, renewEveryMs / 2)));
  return { latestAt, mustRenewAt: plusMs(expiresAt, -marginMs) };
}

/**
 * From one session of this lifetime to the next by the schedule alone, with the most that jitter can take. Quiet hours
 * can only shorten it now and then, and are left out.
 */
export function renewalIntervalMs(lifetimeMs: number, settings: SessionSettings): number {
  const createdAt = instantFromEpochMs(0);
  const life = { createdAt, expiresAt: plusMs(createdAt, lifetimeMs) };
  return msBetween(createdAt, limitsOf(life, settings, JITTER_SHARE).latestAt);
}

/** The numbers behind the warning that failed renewals may not be made up for in time. */
interface LeadTimeShortfall {
  readonly leadMs: number;
  readonly neededMs: number;
}

/** Compares the time between renewAt and mustRenewAt with attempts × timeout + back-off; undefined if it suffices. */
export function leadTimeShortfall(moments: SessionMoments, settings: SessionSettings): LeadTimeShortfall | undefined {
  const leadMs = msBetween(moments.renewAt, moments.mustRenewAt);
  const neededMs = ATTEMPTS_TO_FIT * settings.gatewayTimeoutMs + (ATTEMPTS_TO_FIT - 1) * PAUSE_BETWEEN_ATTEMPTS_MS;
  return leadMs < neededMs ? { leadMs, neededMs } : undefined;
}

/** The planned lead time, as a share of the lifetime and before the jitter. */
export function leadShareOf(lifetimeMs: number, settings: SessionSettings): number {
  return Math.min(leadShares.longest, renewLeadMs(settings, lifetimeMs) / lifetimeMs);
}

function renewLeadMs(settings: SessionSettings, lifetimeMs: number): number {
  if (settings.renewBefore !== undefined) return leadTimeMs(settings.renewBefore, lifetimeMs);
  const share = leadShares.default * lifetimeMs;
  const wantedMs = settings.quietHours === undefined ? share : Math.min(share, MAX_DEFAULT_LEAD_TO_QUIET_MS);
  return Math.max(wantedMs, DEFAULT_RENEW_TIMEOUTS * settings.gatewayTimeoutMs);
}

/** How long before its end a session of this lifetime is no longer handed out. */
function safetyMarginMs(settings: SessionSettings, lifetimeMs: number): number {
  if (settings.safetyMargin !== undefined) return leadTimeMs(settings.safetyMargin, lifetimeMs);
  return Math.min(DEFAULT_MARGIN_SHARE * lifetimeMs, MAX_DEFAULT_MARGIN_MS);
}

function leadTimeMs(lead: LeadTime, lifetimeMs: number): number {
  return lead.kind === 'share' ? lead.share * lifetimeMs : lead.durationMs;
}
