import {
  type DailyTimes,
  DailyWindow,
  earliest,
  type Instant,
  instantFromEpochMs,
  latest,
  msBetween,
  plusMs,
  type Span,
} from '#libs/clock';
import { type LeadTime, placeOf, type Session, type SessionSettings } from './session.js';

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

type SessionMoments = Pick<Session, 'renewAt' | 'mustRenewAt'>;
type SessionLife = Pick<Session, 'createdAt' | 'expiresAt'>;

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

/**
 * Whether failed renewals may not be made up for in time: compares the time between renewAt and mustRenewAt with
 * attempts × timeout + back-off. Undefined if it suffices.
 */
export function leadTimeShortfall(
  moments: SessionMoments,
  settings: SessionSettings,
): { readonly leadMs: number; readonly neededMs: number } | undefined {
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

/** A younger session is not renewed for the sake of the quiet hours: no call should follow another at once. */
const MIN_AGE_MS = 300_000;
/**
 * Lifetimes vary with the time an answer takes and with clock steps: the next session is assumed to live this much
 * less.
 */
const UNCERTAIN_MS = 60_000;
/** A part of the quiet hours shorter than this share of them is too small to aim at. */
const MIN_SHARE = 0.01;

/** What decides when a session is renewed. */
interface QuietLife {
  readonly createdAt: Instant;
  /** It is renewed by then at the latest, whatever the hour. */
  readonly latestAt: Instant;
  /** The place of its merchant among all, in [0, 1). */
  readonly place: number;
}

/**
 * The moment in quiet hours at which a session is renewed; undefined when it is renewed at `latestAt`. From the top:
 *
 *     created … [ quiet ] … [ quiet ] … latestAt      It reaches quiet hours: in the last of them, at its merchant's
 *                               *                     own moment, or as late as it lives.
 *     created in [ quiet ] … latestAt … [ quiet ]     It does not reach the next ones, but one created towards the
 *                        *                            end of these would: once more in these, towards their end.
 */
export function quietMoment(life: QuietLife, times: DailyTimes): Instant | undefined {
  const { createdAt, latestAt } = life;
  const daily = new DailyWindow(times);
  // A session that lives no longer than the quiet hours last is renewed in them anyway.
  if (msBetween(createdAt, latestAt) <= daily.lengthMs) return undefined;
  const windows = windowsWithin(life, daily);
  const index = windows.findLastIndex(
    ({ from, until }) => createdAt < from && until > plusMs(createdAt, MIN_AGE_MS) && from <= latestAt,
  );
  const [window = windows[0], next] = index < 0 ? windows : windows.slice(index);
  if (window === undefined || next === undefined) return undefined;
  const rhythm = rhythmOf(window, next, life);
  return index >= 0 ? momentIn(window, rhythm, life) : momentAgainIn(window, rhythm, life);
}

/** The windows it touches, and the one after them. */
function windowsWithin({ createdAt, latestAt }: QuietLife, daily: DailyWindow): readonly Span[] {
  const windows: Span[] = [];
  for (const window of daily.endingAfter(createdAt)) {
    windows.push(window);
    if (window.from > latestAt) break;
  }
  return windows;
}

/** How sessions with this lifetime get from one window to the next. */
interface Rhythm {
  /**
   * Sessions created in the window from this moment on are followed by the fewest renewals before the next window;
   * those created earlier in it, by one more.
   */
  readonly betterFrom: Instant;
  /** They reach the next window no earlier in it than this one. */
  readonly keepsTime: boolean;
}

function rhythmOf(window: Span, next: Span, { createdAt, latestAt }: QuietLife): Rhythm {
  const livesMs = msBetween(createdAt, latestAt);
  const reachMs = Math.max(livesMs - UNCERTAIN_MS, livesMs / 2);
  const lastAimMs = -MIN_SHARE * msBetween(window.from, window.until);
  const lives = Math.ceil(msBetween(plusMs(window.until, lastAimMs), next.from) / reachMs);
  return {
    betterFrom: latest(window.from, plusMs(next.from, -lives * reachMs)),
    keepsTime: lives * livesMs >= msBetween(window.from, next.from),
  };
}

function momentIn(window: Span, { betterFrom, keepsTime }: Rhythm, { createdAt, latestAt, place }: QuietLife): Instant {
  const own = pointIn(window, place);
  const until = earliest(window.until, latestAt);
  const from = latest(betterFrom, window.from, plusMs(createdAt, MIN_AGE_MS));
  if (from >= until || own > until) return until;
  // Sessions that come earlier every night have the longest way to go from the latest moment.
  if (!keepsTime && until === latestAt) return until;
  return own >= from ? own : pointIn({ from, until }, place);
}

/**
 * It lands beyond `betterFrom`, so it happens once per window. Sessions that come earlier every night arrive here from
 * the beginning of the window, and go to its end: that way a fleet that is spread over it stays so.
 */
function momentAgainIn(
  window: Span,
  { betterFrom }: Rhythm,
  { createdAt, latestAt, place }: QuietLife,
): Instant | undefined {
  if (createdAt >= betterFrom) return undefined;
  const until = earliest(window.until, latestAt);
  const landing = plusMs(until, -msBetween(window.from, betterFrom));
  const from = latest(landing, betterFrom, plusMs(createdAt, MIN_AGE_MS));
  return from >= until ? undefined : pointIn({ from, until }, place);
}

function pointIn({ from, until }: Span, place: number): Instant {
  return plusMs(from, Math.floor(place * msBetween(from, until)));
}
